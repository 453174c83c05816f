package source_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func newKey(t testing.TB) (ed25519.PrivateKey, ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	must(t, err)
	return private, signer
}

// sshServer runs git-upload-pack for anyone who holds the key of user git.
type sshServer struct {
	address string
	key     ssh.PublicKey // its own
	root    string
	user    ssh.PublicKey
}

func serveSSH(t testing.TB, root string, user ssh.PublicKey) *sshServer {
	t.Helper()
	_, host := newKey(t)
	return serveSSHAs(t, root, user, host)
}

func serveSSHAs(t testing.TB, root string, user ssh.PublicKey, host ssh.Signer) *sshServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	s := &sshServer{address: listener.Addr().String(), key: host.PublicKey(), root: root, user: user}
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || string(key.Marshal()) != string(user.Marshal()) {
			return nil, errors.New("not you")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.handle(conn, config)
		}
	}()
	return s
}

// certified has its key, of another kind than the authority's, signed.
func certified(t *testing.T, authority ssh.Signer) ssh.Signer {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	host, err := ssh.NewSignerFromKey(private)
	must(t, err)
	certificate := &ssh.Certificate{
		Key: host.PublicKey(), CertType: ssh.HostCert, ValidPrincipals: []string{"127.0.0.1"}, ValidBefore: ssh.CertTimeInfinity,
	}
	must(t, certificate.SignCert(rand.Reader, authority))
	signer, err := ssh.NewCertSigner(certificate, host)
	must(t, err)
	return signer
}

func TestAnAuthorityOfAnotherKindThanTheHostKeyIsBelieved(t *testing.T) {
	repo := newRepository(t)
	repo.commit(bundleFiles())
	mine, signer := newKey(t)
	_, authority := newKey(t)
	server := serveSSHAs(t, filepath.Dir(filepath.Dir(repo.dir)), signer.PublicKey(), certified(t, authority))
	sshAgent(t, mine)
	knownHosts(t, "@cert-authority "+knownhosts.Line([]string{server.address}, authority.PublicKey()))
	o := source.Options{CacheDir: t.TempDir(), RequestTimeout: 5 * time.Second}
	_, content, err := get(t.Context(), o, "git+ssh://git@"+server.address+"/org/repo//b")
	must(t, err)
	mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
}

func (s *sshServer) handle(conn net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go s.session(channel, requests)
	}
}

// session runs the one command that a git server runs.
func (s *sshServer) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer func() { _ = channel.Close() }()
	for request := range requests {
		var payload struct{ Command string }
		if request.Type != "exec" || ssh.Unmarshal(request.Payload, &payload) != nil {
			_ = request.Reply(false, nil)
			continue
		}
		path, ok := strings.CutPrefix(payload.Command, "git-upload-pack '/")
		_ = request.Reply(ok, nil)
		cmd := exec.Command("git", "upload-pack", filepath.Join(s.root, strings.TrimSuffix(path, "'")))
		cmd.Env = append(os.Environ(), gitEnvironment...)
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		in, err := cmd.StdinPipe()
		if err != nil || cmd.Start() != nil {
			return
		}
		go func() {
			_, _ = io.Copy(in, channel)
			_ = in.Close()
		}()
		code := uint32(0)
		if cmd.Wait() != nil {
			code = 128
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
		return
	}
}

// sshAgent serves keys on the socket of SSH_AUTH_SOCK.
func sshAgent(t *testing.T, keys ...ed25519.PrivateKey) {
	t.Helper()
	ring := agent.NewKeyring()
	for _, key := range keys {
		must(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	}
	dir, err := os.MkdirTemp("", "agent") // the path of a socket is short
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	t.Setenv("SSH_AUTH_SOCK", listener.Addr().String())
}

func knownHosts(t *testing.T, lines ...string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "known_hosts")
	must(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	t.Setenv("SSH_KNOWN_HOSTS", name)
}

func TestGitOverSSHProvesBothSides(t *testing.T) {
	repo := newRepository(t)
	commit := repo.commit(bundleFiles())
	mine, signer := newKey(t)
	strange, _ := newKey(t)
	_, other := newKey(t)
	server := serveSSH(t, filepath.Dir(filepath.Dir(repo.dir)), signer.PublicKey())
	good := knownhosts.Line([]string{server.address}, server.key)
	text := "git+ssh://git@" + server.address + "/org/repo//b"

	for _, allowed := range []bool{false, true} { // true takes two requests
		if allowed {
			repo.allow()
		}
		sshAgent(t, strange, mine)
		knownHosts(t, good)
		o := source.Options{CacheDir: t.TempDir(), RequestTimeout: 5 * time.Second}
		pin, content, err := get(t.Context(), o, text)
		must(t, err)
		if pin.Source.Reference != text+"?ref="+commit {
			t.Errorf("got %+v", pin.Source)
		}
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
		t.Setenv("SSH_AUTH_SOCK", "")
		o.Offline = true
		again, _, err := get(t.Context(), o, text)
		must(t, err)
		if again.Source != pin.Source {
			t.Errorf("offline %+v", again.Source)
		}
	}

	tests := []struct {
		name, want, text string
		prepare          func(t *testing.T)
	}{
		{"a server that known_hosts does not list", "is not in known_hosts", text, func(t *testing.T) {
			sshAgent(t, mine)
			knownHosts(t, knownhosts.Line([]string{"example.com"}, other.PublicKey()))
		}},
		{"a server with another key", "another key than known_hosts has", text, func(t *testing.T) {
			sshAgent(t, mine)
			knownHosts(t, knownhosts.Line([]string{server.address}, other.PublicKey()))
		}},
		{"no known_hosts", "there is no known_hosts file", text, func(t *testing.T) {
			sshAgent(t, mine)
			t.Setenv("SSH_KNOWN_HOSTS", filepath.Join(t.TempDir(), "none"))
		}},
		{"keys that the server does not know", "takes none of the keys", text, func(t *testing.T) {
			sshAgent(t, strange)
			knownHosts(t, good)
		}},
		{"no agent", "there is no ssh agent", text, func(t *testing.T) {
			t.Setenv("SSH_AUTH_SOCK", "")
			knownHosts(t, good)
		}},
		{"an agent that is gone", "does not answer", text, func(t *testing.T) {
			t.Setenv("SSH_AUTH_SOCK", filepath.Join(t.TempDir(), "s"))
			knownHosts(t, good)
		}},
		{"no such repository", "does not appear to be a git repository", "git+ssh://git@" + server.address + "/org/none", func(t *testing.T) {
			sshAgent(t, mine)
			knownHosts(t, good)
		}},
		{"nobody there", "cannot be reached", "git+ssh://git@127.0.0.1:1/org/repo", func(t *testing.T) {
			sshAgent(t, mine)
			knownHosts(t, good)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.prepare(t)
			o := source.Options{CacheDir: t.TempDir(), RequestTimeout: 5 * time.Second}
			_, _, err := get(t.Context(), o, test.text)
			mustFail(t, err, test.want)
		})
	}
}
