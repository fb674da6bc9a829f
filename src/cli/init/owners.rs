//! Who owns which folder: `CODEOWNERS`, from the tenants' `paths`.

use std::fmt::Write as _;

use crate::model::api::Fleet;

/// The text of `carp.yaml` with a folder for each tenant that has none.
pub(super) fn with_paths(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if indent <= 2 && !line.trim().is_empty() {
            inside = line == "  tenants:";
        }
        out.push_str(line);
        out.push('\n');
        if let Some(name) = line.trim_start().strip_prefix("- name: ").filter(|_| inside) {
            let _ = writeln!(out, "{}paths: [fleet/{name}]", " ".repeat(indent + 2));
        }
    }
    out
}

/// The owners of every folder, as the tenants of a `carp.yaml` have them: the last line that matches a file
/// counts, so the platform's comes first.
pub(super) fn text(carp_yaml: &str) -> String {
    let fleet: Option<Fleet> = serde_saphyr::from_str(carp_yaml).ok();
    let mut out = "# Who approves what, for GitHub and GitLab. The folders are the tenants' `paths` in carp.yaml; \
                   write your teams.\n* @your-org/platform\n"
        .to_owned();
    for tenant in fleet.iter().flat_map(|fleet| &fleet.spec.tenants) {
        for path in &tenant.paths {
            let _ = writeln!(out, "/{}/ @your-org/{}", path.trim_matches('/'), tenant.name);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARP: &str = "apiVersion: carp.dev/v1alpha1\nkind: Fleet\nmetadata:\n  name: x\nspec:\n  credentials:\n    \
         - name: all\n  tenants:\n    - name: shop\n      pools: [shared]\n\n  guards:\n    maxMoves: 0\n";

    #[test]
    fn each_tenant_gets_a_folder_and_its_owner() {
        let text_with = with_paths(CARP);
        assert!(text_with.contains("    - name: shop\n      paths: [fleet/shop]\n"), "{text_with}");
        assert_eq!(text_with.matches("paths:").count(), 1, "credentials have none: {text_with}");
        let owners = text(&text_with);
        assert!(
            owners.ends_with("* @your-org/platform\n/fleet/shop/ @your-org/shop\n"),
            "{owners}"
        );
    }
}
