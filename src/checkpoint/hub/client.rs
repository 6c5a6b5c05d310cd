//! A connection to the hub: what is asked, and what its answers mean.

use std::io::ErrorKind;

use ureq::{Agent, Body, http::Response};

use super::{
    download::{Download, agent, header},
    listing::Listing,
    repo::{Repo, is_hash},
};
use crate::error::{Error, Result};

/// Bytes of a list of files, at most.
const LISTING: u64 = 64 << 20;

/// Where the hub is, and who asks it.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub endpoint: String,
    pub token: Option<String>,
    /// Whether it is not to be asked at all.
    pub offline: bool,
}

/// A connection to the hub, about one repository.
pub(super) struct Client<'a> {
    pub access: &'a Access,
    pub repo: &'a Repo,
    agent: Agent,
}

impl<'a> Client<'a> {
    /// # Errors
    /// The file of SSL_CERT_FILE cannot be read.
    pub fn new(access: &'a Access, repo: &'a Repo) -> Result<Self> {
        Ok(Self {
            access,
            repo,
            agent: agent()?,
        })
    }

    /// A file of the hub, of a size where that is known.
    pub fn at<'b>(&'b self, url: &'b str, size: Option<u64>) -> Download<'b> {
        Download {
            agent: &self.agent,
            url,
            token: self.access.token.as_deref(),
            size,
        }
    }

    /// The files of a revision.
    ///
    /// # Errors
    /// The hub is out of reach, knows no such revision, or gives it to others alone.
    pub fn listing(&self, revision: &str) -> Result<Listing> {
        let offline = |reason: String| Error::HubOffline {
            model: self.repo.id.clone(),
            reason,
        };
        if self.access.offline {
            return Err(offline("HF_HUB_OFFLINE is set".into()));
        }
        let url = format!(
            "{}/api/models/{}/revision/{}?blobs=true",
            self.access.endpoint,
            self.repo.id,
            revision.replace('/', "%2F")
        );
        let mut response = self.at(&url, None).get(0).map_err(|e| match e {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Error::InvalidArgument(format!(
                "the hub cannot be asked ({e}). See what HF_ENDPOINT and HF_TOKEN hold."
            )),
            other => {
                let untrusted = match &other {
                    ureq::Error::Rustls(_) => true,
                    ureq::Error::Io(e) => e.kind() == ErrorKind::InvalidData,
                    _ => false,
                };
                let hint = match untrusted {
                    true => "; SSL_CERT_FILE names the certificates that are trusted",
                    false => "",
                };
                offline(format!(
                    "{} gives no answer ({other}{hint})",
                    self.access.endpoint
                ))
            }
        })?;
        match response.status().as_u16() {
            200 => {}
            status @ (429 | 500..) => {
                return Err(offline(format!(
                    "{} answers {status}",
                    self.access.endpoint
                )));
            }
            401 | 404 if header(&response, "x-error-code") != "GatedRepo" => {
                return Err(self.unknown(&response));
            }
            _ => return Err(self.refused(&response, "its list of files")),
        }
        let broken = |reason: String| self.failed("its list of files", reason);
        let bytes = response.body_mut().with_config().limit(LISTING);
        let bytes = bytes.read_to_vec().map_err(|e| broken(e.to_string()))?;
        let listing: Listing =
            serde_json::from_slice(&bytes).map_err(|e| broken(format!("it is none ({e})")))?;
        match is_hash(&listing.sha) {
            true => Ok(listing),
            false => Err(broken(format!("{:?} is no commit", listing.sha))),
        }
    }

    pub fn lacks(&self, name: &str) -> Error {
        Error::HubFile {
            model: self.repo.id.clone(),
            file: name.to_owned(),
        }
    }

    pub fn failed(&self, file: &str, reason: String) -> Error {
        Error::HubDownload {
            model: self.repo.id.clone(),
            file: file.to_owned(),
            reason,
        }
    }

    fn unknown(&self, response: &Response<Body>) -> Error {
        Error::HubUnknown {
            model: self.repo.id.clone(),
            revision: self.repo.revision.clone(),
            reason: said(response),
        }
    }

    /// What an answer that brings no file means.
    pub fn refused(&self, response: &Response<Body>, file: &str) -> Error {
        match response.status().as_u16() {
            401 | 403 => Error::HubGated {
                page: format!("{}/{}", self.access.endpoint, self.repo.id),
                model: self.repo.id.clone(),
                sent: match self.access.token {
                    Some(_) => "the token that was sent has no access",
                    None => "no token was sent",
                },
            },
            _ => self.failed(file, format!("the hub answers {}", said(response))),
        }
    }
}

/// A response's status, and the hub's words for it.
fn said(response: &Response<Body>) -> String {
    let (status, message) = (response.status(), header(response, "x-error-message"));
    match message.is_empty() {
        true => status.to_string(),
        false => format!("{}, {message}", status.as_u16()),
    }
}
