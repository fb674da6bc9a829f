//! Words that users see, as enums: each is written once, and whoever needs all of them asks the enum.

/// An enum whose variants are spelled as users see them, or as it says behind a `=`, with `ALL` and `name`.
macro_rules! words {
    (@name $variant:ident) => { stringify!($variant) };
    (@name $variant:ident $word:literal) => { $word };
    ($(#[$doc:meta])* $vis:vis $type:ident: $($(#[$variant_doc:meta])* $variant:ident $(= $word:literal)?,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $vis enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $type {
            /// All of them, in the order of the enum.
            $vis const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word as users see it.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => words!(@name $variant $($word)?),)*
                }
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.name()
            }
        }
    };
}

pub(crate) use words;
