//! Everything through the outside door: the binary as it ships, real adapters and runtimes.
//!
//! One program, linked once. A new file is its `mod` line.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop where it stands"
)]

mod actors;
mod adapters;
mod agents;
mod architecture;
mod attach;
mod breakpoints_exception;
mod breakpoints_function;
mod burst;
mod callpoints_cideldill;
mod callpoints_crash;
mod callpoints_hostile;
mod callpoints_lanes;
mod callpoints_mcp;
mod callpoints_mcp_paused;
mod callpoints_mcp_points;
mod callpoints_mcp_values;
mod callpoints_notify;
mod callpoints_pause;
mod callpoints_records;
mod callpoints_repl;
mod callpoints_wire;
mod cli;
mod config;
mod contract_table;
mod core_files;
mod crowds;
mod cuts;
mod debug_experiment;
mod debug_record;
mod debug_until;
mod defects_node;
mod defects_python;
mod defects_table;
mod described;
mod described_own;
mod doors;
mod doors_pages;
mod doors_ports;
mod edited;
mod fuzz;
mod gateway;
mod gateway_config;
mod gateway_crowd;
mod gateway_faults;
mod gateway_held;
mod gateway_http;
mod gateway_lifecycle;
mod gateway_login;
mod gateway_real;
mod gateway_tls;
mod gateway_wrap;
mod go_real;
mod go_run;
mod guard_killed;
mod http;
mod java_attach;
mod java_inspect;
mod java_maven;
mod java_real;
mod java_run;
mod mono_run;
mod mono_trace;
mod native_real;
mod native_references;
mod native_run;
mod node_bad_input;
mod node_children;
mod node_exceptions;
mod node_inspect;
mod node_maps;
mod node_run;
mod node_runners;
mod notifications;
mod notifications_edges;
mod notifications_trace;
mod page;
mod probe_node;
mod probe_python;
mod probe_python_passes;
mod probe_python_tests;
mod python_bad_input;
mod python_children;
mod python_inspect;
mod python_run;
mod python_tools;
mod real_packages;
mod record;
mod record_pairs;
mod ruby_run;
mod run;
mod run_record;
mod secrets;
mod security_table;
mod shell;
mod snapshots;
mod soak;
mod sse;
mod stderr;
mod stdio;
mod store_faults;
mod suite;
mod surface;
mod timeline;
mod torture;
mod tracepoints;
mod tracepoints_endless;
mod tracepoints_programs;
mod tracepoints_watched;
mod tracepoints_woven;
mod truth;
mod truth_launch;
mod two_servers;
mod unanswering;
mod vscode;
mod wait;
