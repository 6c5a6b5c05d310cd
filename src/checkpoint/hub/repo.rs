//! Repositories on the hub, by name.

use std::path::Path;

/// A repository on the hub, at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repo {
    /// Such as `nvidia/NV-Embed-v2`.
    pub id: String,
    /// A branch, a tag, a commit, or a proposed change such as `refs/pr/1`.
    pub revision: String,
}

impl Repo {
    /// What `owner/name` or `owner/name@revision` names; `None` for other texts, and for a path that exists.
    pub fn named(path: &Path) -> Option<Self> {
        let text = path.to_str().filter(|_| !path.exists())?;
        let (id, revision) = text.split_once('@').unwrap_or((text, "main"));
        let (owner, name) = id.split_once('/')?;
        // A GGUF file that is not there is a path, and no repository.
        let file = Path::new(name)
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("gguf"));
        let sound = is_name(owner) && is_name(name) && !file && revision.split('/').all(is_name);
        sound.then(|| Self {
            id: id.to_owned(),
            revision: revision.to_owned(),
        })
    }

    /// The folder of the repository in the cache.
    pub(super) fn folder(&self) -> String {
        format!("models--{}", self.id.replace('/', "--"))
    }
}

/// Whether a text is one part of a repository's name, or of a revision's.
fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(word)
        && text.ends_with(word)
        && text.chars().all(|c| word(c) || matches!(c, '-' | '.'))
        && !text.contains("--")
        && !text.contains("..")
}

/// Whether a text is the hash of a commit or of a blob.
pub(super) fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.chars().all(|c| c.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_an_owner_and_a_name() {
        let named = |text: &str| Repo::named(Path::new(text)).map(|r| (r.id, r.revision));
        let pair = |id: &str, revision: &str| Some((id.to_owned(), revision.to_owned()));
        assert_eq!(
            named("nvidia/NV-Embed-v2"),
            pair("nvidia/NV-Embed-v2", "main")
        );
        assert_eq!(named("a/b@v1.0"), pair("a/b", "v1.0"));
        assert_eq!(named("a/b@refs/pr/1"), pair("a/b", "refs/pr/1"));
        for other in [
            "model",
            "a/b/c",
            "/a/b",
            "./b",
            "../b",
            "a/..",
            "a/b@",
            "a/b@../x",
            "a/b@/x",
            "a/b c",
            "a/b.gguf",
            "a--b/c",
            "a/.b",
            "src/model",
            "",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }
}
