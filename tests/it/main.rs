//! The integration tests, as one binary: real files, real repositories, real processes, loopback only.
#![expect(clippy::disallowed_methods, reason = "tests read and write files")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test fails where it cannot go on, and knows the names of its own files"
)]

mod acknowledgement_signers;
mod add_ons;
mod added_law;
mod affected_guards;
mod affected_law;
mod against;
mod agent;
mod agent_layer;
mod agent_scale;
mod agent_watches;
mod aks;
mod aks_network;
mod all_parts;
mod applied_twice;
mod appliers;
mod architecture;
mod bad_input;
mod bad_repository;
#[cfg(unix)]
mod broken_worlds;
mod busy;
mod captures;
mod certificate;
#[cfg(unix)]
mod ci;
mod ci_comments;
mod cli_help;
mod commands;
mod control_plane_agent;
mod controller;
mod controller_callers;
mod cost;
mod cost_law;
mod crds_pull;
mod credentials;
mod daily;
mod data_stores;
mod definitions;
mod deletions;
mod deploy;
mod docs;
mod downloads;
mod drift;
mod editor;
mod election;
mod example;
#[cfg(unix)]
mod exhaustion;
mod explained_law;
mod failure_modes;
#[cfg(unix)]
mod faults;
mod federation;
mod findings;
mod flapping;
mod flavor_change;
mod flavors_page;
mod fold_first;
mod footprint;
#[cfg(unix)]
mod foreign_files;
mod forge;
mod forge_comments;
mod forge_proxies;
mod format_only;
mod forms;
#[cfg(unix)]
mod full_disk;
mod gates;
mod git_push;
mod git_store;
mod golden;
mod hands;
mod hosted_planes;
mod kept;
#[cfg(unix)]
mod kind;
mod kind_flavor;
#[cfg(unix)]
mod kind_git;
#[cfg(unix)]
mod kind_rights;
mod lock_formats;
mod looked_law;
mod machines_replaced;
mod memo_law;
mod mirrors;
mod model;
mod moving;
mod networks;
mod never_widens;
mod objects_removed;
mod one_cause;
mod overrides;
mod overrides_page;
mod own_flavor;
mod parameters;
mod partial_clones;
mod placement;
mod placement_page;
mod plan_is_apply;
mod plan_words;
mod plurals;
mod policy_tests;
#[cfg(unix)]
mod pool_zones;
mod processes;
mod promises;
mod proposals;
mod published;
mod races;
mod reference;
#[cfg(unix)]
mod release;
mod removed_law;
mod rendered_crds;
mod rendered_golden;
mod rendered_kustomize;
mod rendered_yaml;
mod replay;
mod reviewing;
mod self_managed;
mod settled;
mod signing;
mod simulate;
mod standing_rights;
#[cfg(unix)]
mod status_races;
#[cfg(unix)]
mod stories;
mod support;
mod templates_page;
mod tenants;
mod threads;
mod variations;
mod variations_parameters;
mod verified_law;
mod verifying;
#[cfg(unix)]
mod verifying_openpgp;
mod version_steps;
mod versions_offered;
mod visible_text;
mod waiting_law;
mod ways_to_write;
mod worker_attacks;
mod worker_overrides;
