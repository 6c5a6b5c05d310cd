//! One file of a server. It arrives in a part file, which keeps what has come: a download that broke off goes on
//! from there, by itself or when it is asked for again.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use sha2::{Digest, Sha256};
use ureq::{
    Agent, Body,
    config::RedirectAuthHeaders,
    http::Response,
    tls::{PemItem, RootCerts, TlsConfig, parse_pem},
};

use crate::{
    checkpoint::files::hexadecimal,
    error::{Error, Result},
};

/// How long a silent connection is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// Attempts in a row that bring nothing new, until a download is given up; each waits twice as long as the one
/// before it.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(250);

/// A client that trusts the certificates of SSL_CERT_FILE, where that is set.
///
/// # Errors
/// That file cannot be read.
pub fn agent() -> Result<Agent> {
    patient(PATIENCE)
}

/// [`agent`] that waits so long for a silent connection.
fn patient(patience: Duration) -> Result<Agent> {
    let mut tls = TlsConfig::builder();
    if let Some(path) = named_path("SSL_CERT_FILE") {
        let pem = fs::read(&path).map_err(Error::io(&path))?;
        let certificates: Vec<_> = parse_pem(&pem)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        tls = tls.root_certs(RootCerts::new_with_certs(&certificates));
    }
    let agent = Agent::config_builder()
        .http_status_as_error(false)
        // The hub sends large files from elsewhere, and small ones from another path of its own.
        .redirect_auth_headers(RedirectAuthHeaders::SameHost)
        .timeout_connect(Some(patience))
        .timeout_per_read(Some(patience))
        .accept_encoding("identity")
        .user_agent(concat!("caselens/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build())
        .build();
    Ok(agent.into())
}

/// A file to fetch.
pub struct Download<'a> {
    pub agent: &'a Agent,
    pub url: &'a str,
    pub token: Option<&'a str>,
    /// Its bytes, where they are known.
    pub size: Option<u64>,
}

/// Why a file did not arrive.
pub enum Stopped {
    /// Attempt after attempt brought nothing new; the last one's reason.
    Idle(String),
    /// The server's answer is no file.
    Refused(Box<Response<Body>>),
    /// The part file cannot be written.
    NotWritten(std::io::Error),
}

/// Why an attempt did not bring a file.
enum Missed {
    /// Another one may.
    Again(String),
    For(Stopped),
}

impl Download<'_> {
    /// What the server answers where bytes from `start` on are asked for.
    pub fn get(&self, start: u64) -> std::result::Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.get(self.url);
        if let Some(token) = self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if start > 0 {
            request = request.header("Range", format!("bytes={start}-"));
        }
        request.call()
    }

    /// Fetches the file to `part`, after what that holds already. `progress` is told how many bytes are there.
    pub fn fetch(
        &self,
        part: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> std::result::Result<(), Stopped> {
        let mut idle = 0;
        loop {
            let before = length(part);
            match self.attempt(part, progress) {
                Ok(()) => return Ok(()),
                Err(Missed::For(stopped)) => return Err(stopped),
                Err(Missed::Again(reason)) => {
                    idle = if length(part) > before { 0 } else { idle + 1 };
                    if idle == ATTEMPTS {
                        return Err(Stopped::Idle(reason));
                    }
                    thread::sleep(PAUSE * (1 << idle));
                }
            }
        }
    }

    fn attempt(
        &self,
        part: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> std::result::Result<(), Missed> {
        let again = |reason: String| Err(Missed::Again(reason));
        let write = |e| Missed::For(Stopped::NotWritten(e));
        let mut start = length(part);
        match self.size {
            Some(size) if start == size && size > 0 => return Ok(()),
            Some(size) if start > size => start = 0,
            _ => {}
        }
        let response = match self.get(start) {
            Ok(response) => response,
            Err(e) => return again(e.to_string()),
        };
        match response.status().as_u16() {
            206 if header(&response, "content-range").starts_with(&format!("bytes {start}-")) => {}
            // The whole file, whatever was asked for.
            200 => start = 0,
            status @ (206 | 408 | 416 | 429 | 500..) => {
                // Not what was asked for: the next attempt asks for all of it.
                if matches!(status, 206 | 416) && start > 0 {
                    fs::remove_file(part).map_err(write)?;
                }
                return again(format!("the server answers {status}"));
            }
            _ => return Err(Missed::For(Stopped::Refused(Box::new(response)))),
        }
        let rest: Option<u64> = header(&response, "content-length").parse().ok();
        let size = self.size.or_else(|| Some(start + rest?));
        let mut out = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(part)
            .map_err(write)?;
        out.set_len(start).map_err(write)?;
        out.seek(SeekFrom::Start(start)).map_err(write)?;
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 18];
        let mut at = start;
        loop {
            progress(at);
            let read = match body.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return again(e.to_string()),
            };
            out.write_all(&buffer[..read]).map_err(write)?;
            at += read as u64;
        }
        match size {
            Some(size) if at != size => again(format!("it ends after {at} of {size} bytes")),
            _ => out.sync_all().map_err(write),
        }
    }
}

/// A header of an answer; nothing where it lacks it.
pub fn header<'a>(response: &'a Response<Body>, name: &str) -> &'a str {
    let value = response.headers().get(name);
    value.and_then(|v| v.to_str().ok()).unwrap_or_default()
}

/// A file's bytes so far.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

/// Makes the folder that a file is to lie in.
///
/// # Errors
/// It cannot be made.
pub fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(Error::io(folder)),
        None => Ok(()),
    }
}

/// Waits until nobody else downloads the same file; held while the file lives.
///
/// # Errors
/// The lock's file cannot be written.
pub fn lock(path: &Path) -> Result<File> {
    make_parent(path)?;
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(Error::io(path))?;
    match file.lock() {
        // Some network file systems know no locks.
        Err(e) if e.kind() != ErrorKind::Unsupported => Err(Error::io(path)(e)),
        _ => Ok(file),
    }
}

/// SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// It cannot be read.
pub fn hash(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(Error::io(path))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(Error::io(path))? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    Ok(hexadecimal(hash))
}

/// The path that a variable of the environment names.
pub(super) fn named_path(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable)?;
    Some(PathBuf::from(value)).filter(|p| !p.as_os_str().is_empty())
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader},
        net::TcpListener,
    };

    use super::*;

    /// A server that falls silent: behind half of the file, then before an answer, and then not at all.
    #[test]
    fn a_download_that_stalls_goes_on() {
        let whole: Vec<u8> = (0..20_000u32).map(|i| i as u8).collect();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let answers = whole.clone();
        let server = thread::spawn(move || {
            let mut silent = Vec::new();
            for visit in 0..3 {
                let (mut stream, _) = listener.accept().unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let lines = lines.map_while(|line| line.ok().filter(|line| !line.is_empty()));
                let asked: Vec<String> = lines.collect();
                let (half, size) = (answers.len() / 2, answers.len());
                match visit {
                    0 => {
                        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n")
                            .unwrap();
                        stream.write_all(&answers[..half]).unwrap();
                    }
                    1 => {}
                    _ => {
                        let range = format!("bytes={half}-");
                        assert!(asked.iter().any(|line| line.ends_with(&range)), "{asked:?}");
                        write!(
                            stream,
                            "HTTP/1.1 206 Partial Content\r\nContent-Length: {half}\r\nContent-Range: bytes {half}-{}/{size}\r\n\r\n",
                            size - 1
                        )
                        .unwrap();
                        stream.write_all(&answers[half..]).unwrap();
                    }
                }
                // Open, and nothing comes.
                silent.push(stream);
            }
        });
        let part = std::env::temp_dir().join(format!("caselens-stalled-{}", std::process::id()));
        let _ = fs::remove_file(&part);
        let agent = patient(Duration::from_millis(300)).unwrap();
        let download = Download {
            agent: &agent,
            url: &url,
            token: None,
            size: Some(whole.len() as u64),
        };
        assert!(download.fetch(&part, &mut |_| ()).is_ok());
        server.join().unwrap();
        assert!(fs::read(&part).unwrap() == whole);
        fs::remove_file(&part).unwrap();
    }

    /// One that never answers.
    #[test]
    fn a_server_that_says_nothing_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/file", listener.local_addr().unwrap());
        let agent = patient(Duration::from_millis(200)).unwrap();
        let download = Download {
            agent: &agent,
            url: &url,
            token: None,
            size: None,
        };
        let part = std::env::temp_dir().join(format!("caselens-silent-{}", std::process::id()));
        let Err(Missed::Again(reason)) = download.attempt(&part, &mut |_| ()) else {
            panic!("it was answered");
        };
        assert!(reason.contains("timeout"), "{reason}");
    }
}
