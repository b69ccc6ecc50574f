package botarena

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const (
	firstPatience  = 30 * time.Second
	socketPatience = 60 * time.Second
	keepaliveTime  = 30 * time.Second
	maxFrameIn     = 16 << 20
	unixScheme     = "unix:"
)

// target is where the arena is, and whether TLS is spoken there.
type target struct {
	text string
	tls  bool
	// roots are whom to trust; nil: the system's.
	roots *x509.CertPool
}

// parseTarget reads host:port or unix:path. TLS everywhere but on this machine, unless insecure; with a ca, the path of a
// PEM file, there too.
func parseTarget(text string, insecure bool, ca string) (target, error) {
	text = strings.TrimSpace(text)
	if insecure && ca != "" {
		return target{}, misconfigured("-insecure means no TLS and -ca means TLS: choose one")
	}
	if text == "" {
		return target{}, misconfigured("no address: set ARENA_ADDRESS or -address, e.g. localhost:7700")
	}
	if path, ok := strings.CutPrefix(text, unixScheme); ok {
		if path == "" {
			return target{}, misconfigured("unix: needs the path of a socket, e.g. unix:/run/arena.sock")
		}
		return target{text: text}, nil
	}
	host, port, err := net.SplitHostPort(text)
	number, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || host == "" || number == 0 || strings.Contains(host, "/") {
		return target{}, misconfigured("%q is no address: write host:port, e.g. localhost:7700, or unix:/path", text)
	}
	if ca != "" {
		roots, err := readCA(ca)
		return target{text: text, tls: true, roots: roots}, err
	}
	return target{text: text, tls: !insecure && !isLoopback(host)}, nil
}

func readCA(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, misconfigured("cannot read the CA: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, misconfigured("the CA %s holds no certificate in PEM", path)
	}
	return roots, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// isSocket tells a socket file, whose server is on this machine and lets in whoever can open it.
func (t target) isSocket() bool { return strings.HasPrefix(t.text, unixScheme) }

// patience is how long nothing may answer before the process gives up; 0: for ever. Where the server of a socket file is
// gone, its bots must not stay behind.
func (t target) patience(connectedBefore bool) time.Duration {
	switch {
	case !connectedBefore:
		return firstPatience
	case t.isSocket():
		return socketPatience
	default:
		return 0
	}
}

// dial makes a connection of its own, so that nothing is left of the back-off of an earlier one.
func (t target) dial() (*grpc.ClientConn, error) {
	transport := insecure.NewCredentials()
	if t.tls {
		transport = credentials.NewTLS(&tls.Config{RootCAs: t.roots})
	}
	return grpc.NewClient(
		t.grpcName(),
		grpc.WithTransportCredentials(transport),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxFrameIn)),
	)
}

// grpcName is the target as gRPC spells it. A name is looked up by the system's resolver, as everywhere else in Go.
func (t target) grpcName() string {
	path, ok := strings.CutPrefix(t.text, unixScheme)
	if !ok {
		return "passthrough:///" + t.text
	}
	path = strings.TrimPrefix(path, "//")
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return "unix://" + path
}
