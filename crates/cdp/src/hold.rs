//! Holding a program before each script that has a source map, to place breakpoints in it in time.
//!
//! A script runs the moment it is parsed: a breakpoint that needs its map first comes too late. V8's
//! own instrumentation stops before ES modules, but not before CommonJS modules, which Node compiles
//! to functions; and in Node's loader no breakpoint binds by line. So for CommonJS we stop at calls
//! of the loader's `_compile`, and for programs that do the same themselves at calls of
//! `vm.compileFunction`: both are given file and text, and stop when the text names a map. At a stop of
//! any kind the map can be read and breakpoints set by URL; they bind before anything runs.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{
    error::Error,
    requester::Requester,
    scripts::path_of_url,
    source_map::{self, MapFailure, SourceMap},
    types::{
        BreakpointId, Paused,
        debugger::{
            EvaluateOnCallFrame, Instrumentation, SetBreakpointOnFunctionCall,
            SetInstrumentationBreakpoint,
        },
        runtime::Evaluate,
    },
};

/// Before Node 20.16 a program has no such function, and `require` comes with the console's helpers.
const COMPILE: &str = "(process.getBuiltinModule ?? require)('module').prototype._compile";
const COMPILE_FUNCTION: &str = "(process.getBuiltinModule ?? require)('vm').compileFunction";
const NAMES_A_MAP: &str =
    "typeof arguments[0] === 'string' && arguments[0].includes('sourceMappingURL=')";
/// A name, or options with one. The last map counts.
const FILE_AND_MAP: &str = "[String(arguments[2]?.filename ?? arguments[1]), arguments[0].slice(\
     arguments[0].lastIndexOf('sourceMappingURL=') + 17).match(/^\\S*/)[0]]";

/// The stops of one thread that wait before scripts with maps. Nobody else asked for them: resume
/// when the breakpoints are set.
#[derive(Clone, Debug)]
pub struct Hold {
    modules: BreakpointId,
    /// Fewer where Node is not what we know.
    functions: Vec<BreakpointId>,
}

/// A script that has not run yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldAt {
    pub file: PathBuf,
    pub source_map_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Instrumented {
    #[serde(default)]
    url: String,
    #[serde(default, rename = "sourceMapURL")]
    source_map_url: String,
}

impl Hold {
    /// Call it at the entry stop: before, the program has no loader.
    pub async fn set(client: &Requester) -> Result<Hold, Error> {
        let instrumentation = Instrumentation::BeforeScriptWithSourceMapExecution;
        let modules = client.send(SetInstrumentationBreakpoint { instrumentation }).await?;
        let mut functions = Vec::new();
        for function in [COMPILE, COMPILE_FUNCTION] {
            functions.extend(stop_at_calls(client, function).await?);
        }
        Ok(Hold { modules: modules.breakpoint_id, functions })
    }

    /// All of it, to remove.
    pub fn breakpoints(&self) -> impl Iterator<Item = &BreakpointId> {
        std::iter::once(&self.modules).chain(&self.functions)
    }

    /// Whether a stop is one of these.
    pub fn is_at(&self, paused: &Paused) -> bool {
        paused.reason == "instrumentation" || self.is_call(paused)
    }

    /// The script that waits; `None` for other stops, and for scripts that are no files.
    pub async fn held(&self, client: &Requester, paused: &Paused) -> Result<Option<HeldAt>, Error> {
        if self.is_call(paused) {
            return compiled(client, paused).await;
        }
        let data = paused.data.clone().filter(|_| paused.reason == "instrumentation");
        let script = data.and_then(|data| serde_json::from_value::<Instrumented>(data).ok());
        Ok(script.and_then(|Instrumented { url, source_map_url }| {
            Some(HeldAt { file: path_of_url(&url)?, source_map_url })
        }))
    }

    fn is_call(&self, paused: &Paused) -> bool {
        self.functions.iter().any(|id| paused.hit_breakpoints.contains(id))
    }
}

impl HeldAt {
    /// Reads files.
    pub fn source_map(&self) -> Result<Option<SourceMap>, MapFailure> {
        let name = self.file.display().to_string();
        source_map::load(&name, Some(&self.file), &self.source_map_url)
    }
}

/// `None` where there is no such function.
async fn stop_at_calls(client: &Requester, function: &str) -> Result<Option<BreakpointId>, Error> {
    let found = Evaluate {
        expression: function.to_owned(),
        include_command_line_api: true,
        silent: true,
        ..Evaluate::default()
    };
    let found = client.send(found).await?;
    let object_id = match found.exception_details {
        None if found.result.kind == "function" => found.result.object_id,
        None | Some(_) => None,
    };
    let Some(object_id) = object_id else {
        tracing::debug!(function, "not here: what it compiles is not held");
        return Ok(None);
    };
    let condition = Some(NAMES_A_MAP.to_owned());
    let command = SetBreakpointOnFunctionCall { object_id, condition };
    Ok(Some(client.send(command).await?.breakpoint_id))
}

async fn compiled(client: &Requester, paused: &Paused) -> Result<Option<HeldAt>, Error> {
    let Some(frame) = paused.call_frames.first() else { return Ok(None) };
    let mut command = EvaluateOnCallFrame::new(frame.call_frame_id.clone(), FILE_AND_MAP);
    command.return_by_value = true;
    let value = client.send(command).await?.result.value.unwrap_or_default();
    let Ok((file, source_map_url)) = serde_json::from_value::<(PathBuf, String)>(value) else {
        return Ok(None);
    };
    // A plain name leads nowhere.
    Ok(Some(HeldAt { file, source_map_url }).filter(|held| held.file.is_absolute()))
}
