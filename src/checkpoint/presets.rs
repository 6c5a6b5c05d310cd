//! Published encoders that are known here: how each wants its inputs, and what it takes to run it.
//!
//! An encoder is known by its name on the Hugging Face hub, or by a folder of that name; one that is not in the
//! table runs too, with what its own files say.

use std::path::Path;

use serde::Serialize;

use super::files::folder_name;
use crate::text::Wrapper;

/// A published encoder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preset {
    /// Its name on the Hugging Face hub.
    pub id: &'static str,
    /// How its authors pool hidden states: `latent`, `last`, `mean`, `cls`, or `pooler`, which is `cls` behind the encoder's
    /// pooler.
    pub pooling: &'static str,
    /// How an instruction stands before a text, where it follows instructions.
    pub prompt: Option<Wrapper>,
    /// The prompt of [`crate::text::prompt::NAMED`] in which a language model that is no encoder is asked for one word: the
    /// one that PonTE chose for it (appendix B).
    pub word: Option<&'static str>,
    /// Whether CASE takes the mean of a text's tokens behind an instruction, and not the last token alone.
    #[serde(skip)]
    pub mean_behind_instruction: bool,
    /// Whether a text ends with the end-of-sequence token.
    pub end_token: bool,
    /// Whether a token sees those after it too. GGUF files do not always say so.
    pub bidirectional: bool,
    /// Longest input in tokens that its authors give it. A decoder's inputs are cut there; others' where their
    /// positions end.
    pub max_tokens: usize,
    /// Width of its embeddings.
    pub dims: usize,
    /// In millions, of the published files.
    pub parameters: usize,
    /// What its page on the hub says.
    pub licence: &'static str,
    /// Whether this package runs it in browsers.
    pub browser: bool,
}

/// What language models have in common that were never trained to embed.
const LANGUAGE_MODEL: Preset = Preset {
    id: "",
    pooling: "last",
    prompt: None,
    word: None,
    mean_behind_instruction: false,
    end_token: false,
    bidirectional: false,
    max_tokens: 8192,
    dims: 4096,
    parameters: 8030,
    licence: "Llama 3",
    browser: false,
};

/// Encoders that follow instructions first, the largest at the top, then the others, and language models last. Of names that begin alike
/// the longer one is first.
pub const PRESETS: [Preset; 14] = [
    Preset {
        id: "nvidia/NV-Embed-v2",
        pooling: "latent",
        prompt: Some(Wrapper::Spaced),
        word: None,
        mean_behind_instruction: true,
        end_token: true,
        bidirectional: true,
        max_tokens: 32_768,
        dims: 4096,
        parameters: 7851,
        licence: "CC-BY-NC-4.0",
        browser: false,
    },
    Preset {
        id: "Alibaba-NLP/gte-Qwen2-7B-instruct",
        pooling: "last",
        prompt: Some(Wrapper::Tight),
        word: None,
        mean_behind_instruction: false,
        end_token: true,
        bidirectional: true,
        max_tokens: 32_768,
        dims: 3584,
        parameters: 7613,
        licence: "Apache-2.0",
        browser: false,
    },
    Preset {
        id: "Salesforce/SFR-Embedding-Mistral",
        pooling: "last",
        prompt: Some(Wrapper::Spaced),
        word: None,
        // The average is better under CASE, by its paper.
        mean_behind_instruction: true,
        end_token: true,
        bidirectional: false,
        max_tokens: 4096,
        dims: 4096,
        parameters: 7111,
        licence: "CC-BY-NC-4.0",
        browser: false,
    },
    Preset {
        id: "intfloat/multilingual-e5-large-instruct",
        pooling: "mean",
        prompt: Some(Wrapper::Spaced),
        word: None,
        mean_behind_instruction: true,
        end_token: true,
        bidirectional: true,
        max_tokens: 512,
        dims: 1024,
        parameters: 560,
        licence: "MIT",
        browser: true,
    },
    Preset {
        id: "princeton-nlp/sup-simcse-roberta-large",
        pooling: "pooler",
        prompt: None,
        word: None,
        mean_behind_instruction: false,
        end_token: true,
        bidirectional: true,
        max_tokens: 512,
        dims: 1024,
        parameters: 355,
        licence: "not stated",
        browser: true,
    },
    Preset {
        id: "sentence-transformers/all-mpnet-base-v2",
        pooling: "mean",
        prompt: None,
        word: None,
        mean_behind_instruction: false,
        end_token: true,
        bidirectional: true,
        max_tokens: 384,
        dims: 768,
        parameters: 109,
        licence: "Apache-2.0",
        browser: true,
    },
    Preset {
        id: "princeton-nlp/sup-simcse-bert-base-uncased",
        pooling: "pooler",
        prompt: None,
        word: None,
        mean_behind_instruction: false,
        end_token: true,
        bidirectional: true,
        max_tokens: 512,
        dims: 768,
        parameters: 109,
        licence: "not stated",
        browser: true,
    },
    Preset {
        id: "sentence-transformers/all-MiniLM-L6-v2",
        pooling: "mean",
        prompt: None,
        word: None,
        mean_behind_instruction: false,
        end_token: true,
        bidirectional: true,
        max_tokens: 256,
        dims: 384,
        parameters: 23,
        licence: "Apache-2.0",
        browser: true,
    },
    Preset {
        id: "meta-llama/Meta-Llama-3-70B-Instruct",
        word: Some("express-word-terms"),
        dims: 8192,
        parameters: 70_554,
        ..LANGUAGE_MODEL
    },
    Preset {
        id: "meta-llama/Meta-Llama-3-70B",
        word: Some("express-terms-word"),
        dims: 8192,
        parameters: 70_554,
        ..LANGUAGE_MODEL
    },
    Preset {
        id: "meta-llama/Meta-Llama-3-8B-Instruct",
        word: Some("express-word-terms"),
        ..LANGUAGE_MODEL
    },
    Preset {
        id: "meta-llama/Meta-Llama-3-8B",
        word: Some("express-word-respect"),
        ..LANGUAGE_MODEL
    },
    Preset {
        id: "mistralai/Mistral-7B-Instruct-v0.3",
        word: Some("text-respect-word"),
        max_tokens: 32_768,
        parameters: 7248,
        licence: "Apache-2.0",
        ..LANGUAGE_MODEL
    },
    Preset {
        id: "mistralai/Mistral-7B-v0.3",
        word: Some("text-respect-word"),
        max_tokens: 32_768,
        parameters: 7248,
        licence: "Apache-2.0",
        ..LANGUAGE_MODEL
    },
];

impl Preset {
    /// The encoder of a name such as `nvidia/NV-Embed-v2`, or of a folder or file that begins with the name's
    /// second half, such as `models/NV-Embed-v2` and `nv-embed-v2-q8_0.gguf`.
    pub fn find(named: &Path) -> Option<&'static Self> {
        let name = folder_name(named)?.to_lowercase();
        let own = |preset: &&Self| {
            let id = preset.id.to_lowercase();
            let short = id.rsplit('/').next().unwrap_or(&id).to_owned();
            let rest = name.strip_prefix(&short);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        PRESETS.iter().find(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Prompt;

    #[test]
    fn an_encoder_is_known_by_its_name() {
        let find = |name: &str| Preset::find(Path::new(name)).map(|p| p.dims);
        assert_eq!(find("nvidia/NV-Embed-v2"), Some(4096));
        assert_eq!(find("models/gte-qwen2-7b-instruct"), Some(3584));
        assert_eq!(find("x/SFR-Embedding-Mistral-Q8_0.gguf"), Some(4096));
        assert_eq!(find("all-MiniLM-L6-v2"), Some(384));
        assert_eq!(find("all-mpnet-base-v2-q4_0.gguf"), Some(768));
        assert_eq!(find("meta-llama/Meta-Llama-3-70B-Instruct"), Some(8192));
        assert_eq!(find("all-MiniLM-L6-v25"), None);
        assert_eq!(find("my-encoder"), None);
    }

    #[test]
    fn each_is_found_by_its_own_name_and_asked_in_a_prompt_that_there_is() {
        for preset in &PRESETS {
            let found = Preset::find(Path::new(preset.id)).map(|found| found.id);
            assert_eq!(found, Some(preset.id));
            assert!(
                preset.word.is_none_or(|name| Prompt::named(name).is_some()),
                "{}",
                preset.id
            );
        }
    }
}
