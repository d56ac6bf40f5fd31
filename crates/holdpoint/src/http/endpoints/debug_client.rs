//! `/api/debug-client.js`: the JavaScript client as one file that knows the server it came from.
//!
//! The parts of `clients/js` are put behind each other as they stand there, each in a function of its own as
//! Node itself does it, so what a page runs is what the package's tests ran. The same text is served as a module and as
//! a script, which is also what `require` takes.

use axum::{
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

macro_rules! parts {
    ($($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../../../../../clients/js/debug-client/", $file)))),+]
    };
}

/// The client, file by file. `node.cjs` and `trust.cjs` are loaded by Node alone.
const PARTS: &[(&str, &str)] = parts![
    "call.cjs",
    "client.cjs",
    "json.cjs",
    "limits.cjs",
    "node.cjs",
    "record.cjs",
    "repl.cjs",
    "runtime.cjs",
    "server.cjs",
    "sha512.cjs",
    "ship.cjs",
    "stack.cjs",
    "trust.cjs",
    "values.cjs",
    "watch.cjs",
];

const TYPES: &str = include_str!("../../../../../clients/js/debug-client.d.ts");

/// What the package's own module says that it exports.
const EXPORTS: &str = include_str!("../../../../../clients/js/debug-client.js");

/// Loads a part when another asks for it. What begins with `node:` is Node's, wherever it gives that to a module.
const LOADER: &str = r#"  const given = typeof require === "function" ? require : (name) => process.getBuiltinModule(name);
  const loaded = {};
  const load = (name) => {
    if (name.startsWith("node:")) return given(name);
    if (!(name in loaded)) {
      const module = (loaded[name] = { exports: {} });
      parts[name](module, load);
    }
    return loaded[name].exports;
  };
  return load("./client.cjs");
"#;

#[utoipa::path(get, path = "/api/debug-client.js", responses(
    (status = 200, description = "The JavaScript client as one ES module that knows this server", body = String)
))]
pub(super) async fn module(headers: HeaderMap) -> Response {
    let exports = EXPORTS.lines().filter(|line| line.starts_with("export")).collect::<Vec<_>>();
    let text =
        format!("{}const client = {};\n{}\n", first_line(&headers), bundle(), exports.join("\n"));
    served("application/javascript", text)
}

#[utoipa::path(get, path = "/api/debug-client.cjs", responses(
    (status = 200, description = "The same for a `<script>`, which then has `window.holdpoint`, and for `require`",
        body = String)
))]
pub(super) async fn script(headers: HeaderMap) -> Response {
    // In a function: the names of a script are those of the whole page.
    let text = format!(
        "(() => {{\n{}const client = {};\nif (typeof module === \"object\") module.exports = client;\n}})();\n",
        first_line(&headers),
        bundle(),
    );
    served("application/javascript", text)
}

#[utoipa::path(get, path = "/api/debug-client.d.ts", responses(
    (status = 200, description = "The types of the JavaScript client, to be saved beside it", body = String)
))]
pub(super) async fn types() -> Response {
    served("text/plain; charset=utf-8", TYPES.to_owned())
}

fn first_line(headers: &HeaderMap) -> String {
    // The gate has let through only hosts that are this server.
    let host = headers.get(header::HOST).and_then(|it| it.to_str().ok()).unwrap_or("localhost");
    let url = json!(format!("http://{host}"));
    format!("const SERVER_URL = {url};\n")
}

fn bundle() -> String {
    let mut text = String::from("(() => {\n  const parts = {\n");
    for (name, part) in PARTS {
        text += &format!("\"./{name}\"(module, require) {{\n{part}}},\n");
    }
    text + "  };\n" + LOADER + "})()"
}

fn served(kind: &'static str, text: String) -> Response {
    // A page that is loaded again gets the client of the server that runs now.
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn every_part_of_the_client_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/js/debug-client");
        let entries = fs::read_dir(folder).unwrap();
        let mut found: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        let embedded: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        assert_eq!(found, embedded);
    }
}
