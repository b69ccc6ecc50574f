package botarena

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TLS is spoken everywhere but on this machine; what is no address is refused with what would be right.
func TestAddresses(t *testing.T) {
	for text, tls := range map[string]bool{
		"localhost:7700": false, "127.0.0.1:7700": false, "[::1]:7700": false, "unix:/run/a.sock": false,
		"arena.example:7700": true, "10.0.0.1:7700": true,
	} {
		if target, err := parseTarget(text, false, ""); err != nil || target.tls != tls {
			t.Errorf("%s: %+v %v", text, target, err)
		}
	}
	if target, err := parseTarget("arena.example:7700", true, ""); err != nil || target.tls {
		t.Error("insecure:", target, err)
	}
	for _, text := range []string{"", "unix:", "localhost", "localhost:", ":7700", "localhost:0", "localhost:99999", "http://a:7700"} {
		if _, err := parseTarget(text, false, ""); ExitCode(err) != 2 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

const testCA = `-----BEGIN CERTIFICATE-----
MIIBcjCCARegAwIBAgIUXPea/jufAOh8REXJuXcvJBCJFtIwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTMwMTAxMjEwWhgPMjEyNjExMDYxMDEyMTBa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEdjziafuL
lR9G67+M7r3+kAIHOP4u3ugy7RbhOaSx6VG4DMAdBZpmiA9XhsD1dP8BLZWG/WMB
an/4bv/ojkV4VKNTMFEwHQYDVR0OBBYEFGxRcz8sCP2aL/x8v4gzfHiN5FELMB8G
A1UdIwQYMBaAFGxRcz8sCP2aL/x8v4gzfHiN5FELMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDSQAwRgIhAJQJBXPz+ohPJ8JEhifBa5xFeHLKXshL6Dh6sGNU
Eo0GAiEAl/HAQrugWdGQCZUbFi5JIplAvhrjSrSsWowT4ZT3doc=
-----END CERTIFICATE-----
`

// With a private CA TLS is spoken on this machine too, but not to a socket file. It wants a certificate in PEM, and does
// not go with insecure.
func TestPrivateCA(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(testCA), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, tls := range map[string]bool{"localhost:1": true, "arena.example:1": true, "unix:/run/a.sock": false} {
		if target, err := parseTarget(text, false, ca); err != nil || target.tls != tls || tls == (target.roots == nil) {
			t.Errorf("%s: %+v %v", text, target, err)
		}
	}
	for _, wrong := range []struct {
		ca       string
		insecure bool
		said     string
	}{
		{ca + ".none", false, "cannot read the CA"}, {"go.mod", false, "no certificate in PEM"}, {ca, true, "choose one"},
	} {
		_, err := parseTarget("localhost:1", wrong.insecure, wrong.ca)
		if ExitCode(err) != 2 || !strings.Contains(err.Error(), wrong.said) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// A path is made absolute, as gRPC wants it.
func TestSocketPaths(t *testing.T) {
	for text, want := range map[string]string{
		"unix:/run/a.sock": "unix:///run/a.sock", "unix:///run/a.sock": "unix:///run/a.sock",
		"localhost:7700": "passthrough:///localhost:7700",
	} {
		if name := (target{text: text}).grpcName(); name != want {
			t.Errorf("%s: %s", text, name)
		}
	}
	if name := (target{text: "unix:a.sock"}).grpcName(); !strings.HasPrefix(name, "unix:///") || !strings.HasSuffix(name, "/a.sock") {
		t.Error(name)
	}
}

// Flags go before the environment; what is wrong is one line and status 2.
func TestSettings(t *testing.T) {
	t.Setenv("ARENA_ADDRESS", "localhost:7700")
	t.Setenv("ARENA_TOKEN", "from the environment")
	t.Setenv("ARENA_CA", "ca.pem")
	bot := Bot{Name: "eve", Act: first}
	settings, err := parseFlags(&bot, []string{"--credit", "3", "-name", "bob", "-patience", "1.5", "--strict"})
	if err != nil || settings.Address != "localhost:7700" || settings.Token != "from the environment" ||
		settings.CA != "ca.pem" ||
		settings.Credit != 3 || bot.Name != "bob" || settings.Patience.Milliseconds() != 1500 || !settings.Strict {
		t.Errorf("%+v %v", settings, err)
	}
	for _, args := range [][]string{{"-credit", "0"}, {"-credit", "x"}, {"-nonsense"}, {"word"}, {"-log-level", "loud"}} {
		if _, err := parseFlags(&bot, args); ExitCode(err) != 2 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// What is missing is found before anything is connected.
func TestMisconfigured(t *testing.T) {
	for name, err := range map[string]error{
		"no token":   Play(Bot{Act: first}, Settings{Address: "localhost:7700"}),
		"no address": Play(Bot{Act: first}, Settings{Token: "t"}),
		"no act":     Play(Bot{}, Settings{Address: "unix:/a", Token: "t"}),
		"no games":   Play(Bot{Act: first, Players: []uint32{2}}, Settings{Address: "unix:/a"}),
	} {
		if ExitCode(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
