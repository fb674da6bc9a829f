//! Words that users see, as enums: each is written once, and whoever needs all of them asks the enum.

/// An enum whose variants are spelled as users see them, with `ALL` and `name`.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident: $($(#[$variant_doc:meta])* $variant:ident,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $type {
            /// All of them, in the order of the enum.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word as users see it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)*
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
