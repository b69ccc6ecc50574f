//! Where the arena is: `host:port` or `unix:path`.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use crate::error::{Error, causes};

const FIRST_PATIENCE: Duration = Duration::from_secs(30);
const SOCKET_PATIENCE: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(30);

/// An address, and whether TLS is spoken there.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub text: String,
    tls: Option<ClientTlsConfig>,
}

impl Target {
    /// TLS everywhere but on this machine, unless `insecure`; with a `ca`, a PEM file, there too. The error says what
    /// would be right.
    pub fn parse(text: &str, insecure: bool, ca: Option<&Path>) -> Result<Self, Error> {
        let text = text.trim();
        if insecure && ca.is_some() {
            return Err(Error::Misconfigured("--insecure means no TLS and --ca means TLS: choose one".into()));
        }
        let target = |tls| Self { text: text.to_owned(), tls };
        if let Some(path) = text.strip_prefix("unix:") {
            return if Path::new(path).file_name().is_some() {
                Ok(target(None))
            } else {
                Err(Error::Misconfigured("unix: needs the path of a socket, e.g. unix:/run/arena.sock".into()))
            };
        }
        match text.rsplit_once(':') {
            Some((host, port))
                if !host.is_empty() && !text.contains('/') && port.parse::<u16>().is_ok_and(|port| port > 0) =>
            {
                let plain = insecure || is_loopback(host);
                Ok(target(match ca {
                    Some(path) => Some(ClientTlsConfig::new().ca_certificate(read_ca(path)?)),
                    None => (!plain).then(|| ClientTlsConfig::new().with_native_roots()),
                }))
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
        let uri = match (self.is_socket(), self.tls.is_some()) {
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
        match &self.tls {
            Some(tls) => endpoint.tls_config(tls.clone()).map_err(unusable),
            None => Ok(endpoint),
        }
    }

    fn is_socket(&self) -> bool {
        self.text.starts_with("unix:")
    }
}

fn read_ca(path: &Path) -> Result<Certificate, Error> {
    let name = path.display();
    let pem = fs::read(path).map_err(|error| Error::Misconfigured(format!("cannot read the CA {name}: {error}")))?;
    if !String::from_utf8_lossy(&pem).contains("-----BEGIN CERTIFICATE-----") {
        return Err(Error::Misconfigured(format!("the CA {name} holds no certificate in PEM")));
    }
    Ok(Certificate::from_pem(pem))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CA: &str = "-----BEGIN CERTIFICATE-----
MIIBcjCCARegAwIBAgIUXPea/jufAOh8REXJuXcvJBCJFtIwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTMwMTAxMjEwWhgPMjEyNjExMDYxMDEyMTBa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdjziafuL
lR9G67+M7r3+kAIHOP4u3ugy7RbhOaSx6VG4DMAdBZpmiA9XhsD1dP8BLZWG/WMB
an/4bv/ojkV4VKNTMFEwHQYDVR0OBBYEFGxRcz8sCP2aL/x8v4gzfHiN5FELMB8G
A1UdIwQYMBaAFGxRcz8sCP2aL/x8v4gzfHiN5FELMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSQAwRgIhAJQJBXPz+ohPJ8JEhifBa5xFeHLKXshL6Dh6sGNU
Eo0GAiEAl/HAQrugWdGQCZUbFi5JIplAvhrjSrSsWowT4ZT3doc=
-----END CERTIFICATE-----
";

    /// Only this machine is spoken to without TLS, unless the author says otherwise.
    #[test]
    fn tls_off_loopback() {
        for local in ["localhost:7700", "127.0.0.1:1", "[::1]:65535", "unix:play.sock"] {
            assert!(Target::parse(local, false, None).unwrap().tls.is_none(), "{local}");
        }
        assert!(Target::parse("arena.example:443", false, None).unwrap().tls.is_some());
        assert!(Target::parse("arena.example:80", true, None).unwrap().tls.is_none());
    }

    /// With a private CA TLS is spoken on this machine too, but not to a socket file. It is a certificate in PEM, and does
    /// not go with `insecure`.
    #[test]
    fn private_ca() {
        let ca = std::env::temp_dir().join(format!("botarena-{}-ca.pem", std::process::id()));
        fs::write(&ca, CA).unwrap();
        let parse = |text, insecure, ca: &Path| Target::parse(text, insecure, Some(ca));
        let socket = parse("unix:play.sock", false, &ca).unwrap();
        let local = parse("localhost:1", false, &ca).unwrap();
        let both = parse("localhost:1", true, &ca).unwrap_err();
        fs::remove_file(&ca).unwrap();
        assert!(socket.tls.is_none() && local.tls.is_some());
        local.endpoint().unwrap();
        let none = parse("localhost:1", false, &ca).unwrap_err();
        let text = parse("localhost:1", false, Path::new("Cargo.toml")).unwrap_err();
        for (error, said) in [(both, "choose one"), (none, "cannot read the CA"), (text, "no certificate in PEM")] {
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    /// What is no address is refused in one line that says what would be one.
    #[test]
    fn bad_addresses() {
        for bad in ["", "localhost", ":7700", "localhost:0", "localhost:x", "http://localhost:1", "unix:"] {
            let error = Target::parse(bad, false, None).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{bad}");
            assert!(!error.to_string().contains('\n'));
        }
    }

    /// A socket file needs no token, and whoever was connected to one does not wait for ever.
    #[test]
    fn socket_files() {
        let socket = Target::parse("unix:/run/arena.sock", false, None).unwrap();
        let port = Target::parse("localhost:7700", false, None).unwrap();
        assert!(!socket.needs_token() && port.needs_token());
        assert_eq!(socket.patience(true), Some(SOCKET_PATIENCE));
        assert_eq!(port.patience(true), None);
    }
}
