//! Where the arena is: `host:port` or `unix:path`.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use tonic::transport::{ClientTlsConfig, Endpoint};

use crate::error::{Error, causes};

const FIRST_PATIENCE: Duration = Duration::from_secs(30);
const SOCKET_PATIENCE: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(30);

/// An address, and whether TLS is spoken there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    pub text: String,
    tls: bool,
}

impl Target {
    /// TLS everywhere but on this machine, unless `insecure`. The error says what would be right.
    pub fn parse(text: &str, insecure: bool) -> Result<Self, Error> {
        let text = text.trim();
        let target = |tls| Self { text: text.to_owned(), tls };
        if let Some(path) = text.strip_prefix("unix:") {
            return if Path::new(path).file_name().is_some() {
                Ok(target(false))
            } else {
                Err(Error::Misconfigured("unix: needs the path of a socket, e.g. unix:/run/arena.sock".into()))
            };
        }
        match text.rsplit_once(':') {
            Some((host, port))
                if !host.is_empty() && !text.contains('/') && port.parse::<u16>().is_ok_and(|port| port > 0) =>
            {
                Ok(target(!insecure && !is_loopback(host)))
            }
            _ => Err(Error::Misconfigured(format!(
                "{text:?} is no address: write host:port, e.g. localhost:7700, or unix:/path"
            ))),
        }
    }

    /// Who can open a socket file has been let in by the file system.
    pub fn needs_token(&self) -> bool {
        !self.is_socket()
    }

    /// How long nothing may answer before the process gives up; `None`: for ever. A socket file belongs to a server
    /// on this machine: where that is gone, its bots must not stay behind.
    pub fn patience(&self, connected_before: bool) -> Option<Duration> {
        match (connected_before, self.is_socket()) {
            (false, _) => Some(FIRST_PATIENCE),
            (true, true) => Some(SOCKET_PATIENCE),
            (true, false) => None,
        }
    }

    /// What tonic connects to.
    pub fn endpoint(&self) -> Result<Endpoint, Error> {
        let uri = match (self.is_socket(), self.tls) {
            (true, _) => self.text.clone(),
            (false, true) => format!("https://{}", self.text),
            (false, false) => format!("http://{}", self.text),
        };
        let unusable = |error: tonic::transport::Error| {
            Error::Misconfigured(format!("cannot connect to {}: {}", self.text, causes(&error)))
        };
        let endpoint = Endpoint::from_shared(uri)
            .map_err(unusable)?
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_while_idle(true);
        if self.tls {
            let tls = ClientTlsConfig::new().with_native_roots();
            return endpoint.tls_config(tls).map_err(unusable);
        }
        Ok(endpoint)
    }

    fn is_socket(&self) -> bool {
        self.text.starts_with("unix:")
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only this machine is spoken to without TLS, unless the author says otherwise.
    #[test]
    fn tls_off_loopback() {
        for local in ["localhost:7700", "127.0.0.1:1", "[::1]:65535", "unix:play.sock"] {
            assert!(!Target::parse(local, false).unwrap().tls, "{local}");
        }
        assert!(Target::parse("arena.example:443", false).unwrap().tls);
        assert!(!Target::parse("arena.example:80", true).unwrap().tls);
    }

    /// What is no address is refused in one line that says what would be one.
    #[test]
    fn bad_addresses() {
        for bad in ["", "localhost", ":7700", "localhost:0", "localhost:x", "http://localhost:1", "unix:"] {
            let error = Target::parse(bad, false).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{bad}");
            assert!(!error.to_string().contains('\n'));
        }
    }

    /// A socket file needs no token, and whoever was connected to one does not wait for ever.
    #[test]
    fn socket_files() {
        let socket = Target::parse("unix:/run/arena.sock", false).unwrap();
        let port = Target::parse("localhost:7700", false).unwrap();
        assert!(!socket.needs_token() && port.needs_token());
        assert_eq!(socket.patience(true), Some(SOCKET_PATIENCE));
        assert_eq!(port.patience(true), None);
    }
}
