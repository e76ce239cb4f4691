//! Families of languages by their syntax, and the kinds of definitions they have.

/// Languages that define things alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Rust,
    Python,
    Script,
    Go,
    /// Java, Kotlin, C#, Scala, Swift, Dart.
    Java,
    C,
    Ruby,
    Php,
    Elixir,
    Shell,
    Sql,
    Markdown,
    /// Keys and values: YAML, TOML, JSON, INI.
    Data,
    Other,
}

impl Syntax {
    pub(super) fn for_path(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "rs" => Self::Rust,
            "py" | "pyi" | "ipynb" => Self::Python,
            "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "vue" | "svelte" => Self::Script,
            "go" => Self::Go,
            "java" | "kt" | "kts" | "cs" | "scala" | "swift" | "dart" | "groovy" => Self::Java,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "m" | "mm" | "zig" => Self::C,
            "rb" | "rake" => Self::Ruby,
            "php" => Self::Php,
            "ex" | "exs" => Self::Elixir,
            "sh" | "bash" | "zsh" => Self::Shell,
            "sql" => Self::Sql,
            "md" | "mdx" | "markdown" | "rst" => Self::Markdown,
            "yml" | "yaml" | "toml" | "json" | "jsonc" | "ini" | "env" | "cfg" | "conf" | "properties" => {
                Self::Data
            }
            _ if name.starts_with(".env") => Self::Data,
            _ => Self::Other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    Type,
    Constant,
    Test,
    /// A heading, a table, a module: something with a name that is neither called nor made.
    Section,
}
