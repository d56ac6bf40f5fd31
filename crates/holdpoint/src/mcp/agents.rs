//! The clients that put our answers before a model, and what each does to them.
//!
//! Given text and `structuredContent`, half of them show the model only the JSON, which has no source line
//! and no hint; others show both and pay twice. One text block alone means the same to all of them, so that
//! is what a client of this table gets. Everybody else (a program, an SDK, a client that nobody has looked
//! at) gets the envelope too, with the whole text inside it: frameworks that name themselves after their
//! user (pydantic-ai, Mastra, LangChain) can therefore lose nothing either.

/// One client, as it names itself in `initialize`.
#[derive(Debug)]
pub(crate) struct AgentClient {
    pub(crate) title: &'static str,
    /// Beginnings of `clientInfo.name`, in lower case. Gemini's and Qwen's go on with the server's name.
    pub(crate) names: &'static [&'static str],
    /// The versions that were looked at.
    pub(crate) versions: &'static str,
    pub(crate) shows: Shows,
    /// Characters after which it cuts an answer, or puts a file in its place.
    pub(crate) limit: Option<usize>,
    /// Where that was seen: its code, its documents, reports of its users.
    pub(crate) evidence: &'static str,
}

/// What its model reads of a result that has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The JSON; of a failure, the text.
    DataOnly,
    /// The JSON, of failures too.
    DataAlways,
    /// The JSON, of failures too; without it the list of blocks as JSON, newlines escaped.
    DataOrBlocks,
    /// The text.
    Text,
    /// Both, one after the other.
    Both,
    /// The whole result as JSON, newlines escaped.
    Everything,
    /// Nobody has seen it yet; text alone is right in any case.
    Unseen,
}

impl Shows {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Shows::DataOnly => "data_only",
            Shows::DataAlways => "data_always",
            Shows::DataOrBlocks => "data_or_blocks",
            Shows::Text => "text",
            Shows::Both => "both",
            Shows::Everything => "everything",
            Shows::Unseen => "unseen",
        }
    }
}

pub(crate) const AGENTS: &[AgentClient] = &[
    AgentClient {
        title: "Claude Code",
        names: &["claude-code"],
        versions: "2.0.21 to 2.1.280",
        shows: Shows::DataOnly,
        limit: Some(50_000),
        evidence: "anthropics/claude-code issues 79944, 55677, 86032; changelog 2.1.91",
    },
    AgentClient {
        title: "Claude Desktop and claude.ai",
        names: &["claude-ai", "claude-desktop"],
        versions: "2026",
        shows: Shows::Text,
        limit: None,
        evidence: "anthropics/claude-code issue 55677",
    },
    AgentClient {
        title: "Codex",
        names: &["codex"],
        versions: "to 2026-08",
        shows: Shows::DataOrBlocks,
        limit: Some(10_000),
        evidence: "openai/codex protocol/src/models.rs, context_tests.rs, models.json",
    },
    AgentClient {
        title: "VS Code",
        names: &["visual studio code", "visual-studio-code", "code - oss", "vscodium"],
        versions: "2026",
        shows: Shows::DataAlways,
        limit: Some(8_192),
        evidence: "microsoft/vscode mcpLanguageModelToolContribution.ts, copilot-chat toolCalling.tsx",
    },
    AgentClient {
        title: "Copilot CLI",
        names: &["github-copilot-developer", "copilot-cli", "github-copilot-cli"],
        versions: "1.0.56 to 1.0.78",
        shows: Shows::Both,
        limit: Some(10_000),
        evidence: "github/copilot-cli changelog 1.0.56, issues 3258, 1732",
    },
    AgentClient {
        title: "Copilot in JetBrains and Xcode",
        names: &["jetbrains-", "xcode-copilot"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "names in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "Cursor",
        names: &["cursor"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "EDT-MCP issue 574; vendor's post on dynamic context",
    },
    AgentClient {
        title: "Windsurf",
        names: &["windsurf"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "name in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "Antigravity",
        names: &["antigravity"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "name in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "Gemini CLI",
        names: &["gemini-cli"],
        versions: "to 0.56",
        shows: Shows::Text,
        limit: Some(40_000),
        evidence: "google-gemini/gemini-cli mcp-tool.ts, tool-executor.ts",
    },
    AgentClient {
        title: "Qwen Code",
        names: &["qwen"],
        versions: "to 0.22",
        shows: Shows::Text,
        limit: Some(500_000),
        evidence: "QwenLM/qwen-code mcp-tool.ts, mcp-client.ts",
    },
    AgentClient {
        title: "Cline",
        names: &["@cline/core", "cline"],
        versions: "to 2026-08",
        shows: Shows::Everything,
        limit: Some(8_000),
        evidence: "cline/cline extensions/mcp/tools.ts, message-builder.ts",
    },
    AgentClient {
        title: "Roo Code",
        names: &["roo code", "roo-code"],
        versions: "to 2026-04",
        shows: Shows::Text,
        limit: None,
        evidence: "RooCodeInc/Roo-Code UseMcpToolTool.ts",
    },
    AgentClient {
        title: "Kilo Code",
        names: &["kilo"],
        versions: "to 2026-08",
        shows: Shows::Text,
        limit: Some(50_000),
        evidence: "Kilo-Org/kilocode mcp/catalog.ts, tool/truncate.ts",
    },
    AgentClient {
        title: "opencode",
        names: &["opencode"],
        versions: "1.18.18; preferred the data in June 2026",
        shows: Shows::Text,
        limit: Some(50_000),
        evidence: "anomalyco/opencode mcp/catalog.ts, tool/truncate.ts, PR 32074",
    },
    AgentClient {
        title: "Goose",
        names: &["goose"],
        versions: "to 2026-04",
        shows: Shows::Text,
        limit: Some(200_000),
        evidence: "block/goose large_response_handler.rs",
    },
    AgentClient {
        title: "Zed",
        names: &["zed"],
        versions: "to 2026-08",
        shows: Shows::Text,
        limit: None,
        evidence: "zed-industries/zed context_server_registry.rs",
    },
    AgentClient {
        title: "Continue",
        names: &["continue-client", "continue-cli-client"],
        versions: "to 2026-06",
        shows: Shows::Text,
        limit: None,
        evidence: "continuedev/continue core/tools/callTool.ts, MCPConnection.ts",
    },
    AgentClient {
        title: "Kimi",
        names: &["kimi"],
        versions: "kimi-code to 2026-08",
        shows: Shows::Both,
        limit: Some(100_000),
        evidence: "MoonshotAI/kimi-code agent/mcp/output.ts, PR 3234",
    },
    AgentClient {
        title: "Amp",
        names: &["amp-mcp-client"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "name in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "Junie",
        names: &["junie"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "neon-solutions/add-mcp issue 117",
    },
    AgentClient {
        title: "Amazon Q",
        names: &["q-dev-cli"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "name in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "Crush",
        names: &["crush"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "name in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "Factory",
        names: &["factory-cli"],
        versions: "2026",
        shows: Shows::Unseen,
        limit: None,
        evidence: "name in apify/mcp-client-capabilities 0.0.14",
    },
    AgentClient {
        title: "LibreChat",
        names: &["@librechat/"],
        versions: "to 2026-08",
        shows: Shows::Text,
        limit: None,
        evidence: "danny-avila/LibreChat mcp/parsers.ts",
    },
    AgentClient {
        title: "fast-agent",
        names: &["fast-agent"],
        versions: "to 2026-08",
        shows: Shows::DataAlways,
        limit: None,
        evidence: "evalstate/fast-agent content_helpers.py",
    },
    AgentClient {
        title: "Vercel's AI SDK",
        names: &["ai-sdk-mcp-client"],
        versions: "to 2026-08",
        shows: Shows::Text,
        limit: None,
        evidence: "vercel/ai mcp-client.ts",
    },
    AgentClient {
        title: "holdpoint tool",
        names: &[crate::app::SHELL],
        versions: "this one",
        shows: Shows::Text,
        limit: None,
        evidence: "ours: an agent's shell",
    },
];

/// The client of that name, if its model is known to read our answers.
pub(crate) fn known(name: &str) -> Option<&'static AgentClient> {
    let name = name.trim().to_lowercase();
    AGENTS.iter().find(|agent| agent.names.iter().any(|known| begins(&name, known)))
}

/// A whole word at the beginning: `zed` is not `zedtool`, `cursor-vscode` is `cursor`.
fn begins(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else { return false };
    let ends_open = known.ends_with(|it: char| !it.is_alphanumeric());
    ends_open || rest.chars().next().is_none_or(|it| !it.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `clientInfo.name` as it was seen on the wire or in the client's code.
    const SEEN: &[(&str, &str)] = &[
        ("claude-code", "Claude Code"),
        ("claude-ai", "Claude Desktop and claude.ai"),
        ("codex-mcp-client", "Codex"),
        ("Codex", "Codex"),
        ("Visual Studio Code", "VS Code"),
        ("Visual Studio Code - Insiders", "VS Code"),
        ("Visual-Studio-Code", "VS Code"),
        ("Code - OSS", "VS Code"),
        ("github-copilot-developer", "Copilot CLI"),
        ("JetBrains-IU-copilot-intellij", "Copilot in JetBrains and Xcode"),
        ("Xcode-copilot-xcode", "Copilot in JetBrains and Xcode"),
        ("cursor-vscode", "Cursor"),
        ("cursor-vscode (via mcp-remote 0.1.37)", "Cursor"),
        ("Windsurf", "Windsurf"),
        ("windsurf-client", "Windsurf"),
        ("antigravity-client", "Antigravity"),
        ("gemini-cli-mcp-client", "Gemini CLI"),
        ("gemini-cli-mcp-client-holdpoint", "Gemini CLI"),
        ("qwen-cli-mcp-client-holdpoint", "Qwen Code"),
        ("qwen-code", "Qwen Code"),
        ("@cline/core", "Cline"),
        ("Cline", "Cline"),
        ("Roo-Code", "Roo Code"),
        ("Roo Code", "Roo Code"),
        ("Kilo-Code", "Kilo Code"),
        ("kilo", "Kilo Code"),
        ("opencode", "opencode"),
        ("goose", "Goose"),
        ("Zed", "Zed"),
        ("continue-client", "Continue"),
        ("continue-cli-client", "Continue"),
        ("kimi-code", "Kimi"),
        ("amp-mcp-client", "Amp"),
        ("junie", "Junie"),
        ("Q-DEV-CLI", "Amazon Q"),
        ("crush", "Crush"),
        ("factory-cli", "Factory"),
        ("@librechat/api-client", "LibreChat"),
        ("fast-agent-mcp", "fast-agent"),
        ("ai-sdk-mcp-client", "Vercel's AI SDK"),
        ("holdpoint tool", "holdpoint tool"),
    ];

    #[test]
    fn every_name_that_was_seen_is_known_and_every_row_was_seen() {
        for (name, title) in SEEN {
            assert_eq!(known(name).map(|it| it.title), Some(*title), "{name}");
        }
        for agent in AGENTS {
            assert!(SEEN.iter().any(|(_, title)| *title == agent.title), "{}", agent.title);
            assert!(!agent.evidence.is_empty() && !agent.versions.is_empty(), "{}", agent.title);
        }
    }

    #[test]
    fn programs_and_sdks_are_not_agents() {
        for name in ["", "mcp", "zedtool", "cursory", "my-app", "rmcp", "inspector", "ampere"] {
            assert!(known(name).is_none(), "{name}");
        }
    }

    /// A row that could never be reached would be a row that says nothing.
    #[test]
    fn no_name_belongs_to_two() {
        for (at, agent) in AGENTS.iter().enumerate() {
            for name in agent.names {
                let owners = AGENTS.iter().enumerate();
                let found: Vec<usize> = owners
                    .filter(|(_, it)| it.names.iter().any(|known| begins(name, known)))
                    .map(|(at, _)| at)
                    .collect();
                assert_eq!(found, [at], "{name}");
            }
        }
    }
}
