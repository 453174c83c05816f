package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// SSHOptions configure the connection to a git server over ssh.
type SSHOptions struct {
	Key        ssh.Signer    // proves the user; nil means the keys of the ssh agent
	KnownHosts []byte        // lines of known_hosts; empty means the user's own files
	Patience   time.Duration // for one answer, and for a pause within it
	MostBytes  int64         // of the answer to one request
	// Explain turns an error on the way to a host into one sentence.
	Explain func(err error, host string) error
}

// sshRemote is a git server reached by ssh (gitprotocol-pack(5)). The user logs in with
// a given key, else with the ssh agent's keys; a server that known_hosts does not list
// is refused. ssh's own configuration file is not read.
type sshRemote struct {
	options SSHOptions
	client  *ssh.Client
	agent   io.Closer
	host    string
	command string

	open *sshCommand // has advertised, waits for a request
}

// DialSSH connects to the server of a repository, given as an ssh:// URL.
func DialSSH(ctx context.Context, repository string, o SSHOptions) (Remote, error) {
	u, err := url.Parse(repository)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	address := net.JoinHostPort(u.Hostname(), "22")
	if u.Port() != "" {
		address = u.Host
	}
	config, keys, err := sshConfig(ctx, u.User.Username(), address, o)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		_ = keys.Close()
		return nil, o.Explain(err, u.Host)
	}
	conn = &bounded.IdleConn{Conn: conn, Patience: o.Patience}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	c, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if err != nil {
		_ = conn.Close()
		_ = keys.Close()
		return nil, o.explainSSH(ctx, err, u.Host)
	}
	path := u.Path
	if strings.HasPrefix(path, "/~") { // a home directory, as git reads it
		path = path[1:]
	}
	return &sshRemote{
		options: o, client: ssh.NewClient(c, channels, requests), agent: keys, host: u.Host,
		command: "git-upload-pack '" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path) + "'",
	}, nil
}

// sshConfig returns the ssh configuration, with the user's login and the verification
// of the server's key, and the connection to the ssh agent, to be closed.
func sshConfig(ctx context.Context, user, address string, o SSHOptions) (*ssh.ClientConfig, io.Closer, error) {
	known, err := knownHosts(o.KnownHosts)
	if err != nil {
		return nil, nil, err
	}
	auth, keys, err := sshAuth(ctx, o.Key)
	if err != nil {
		return nil, nil, err
	}
	if user == "" {
		user = "git"
	}
	return &ssh.ClientConfig{
		User:              user,
		Auth:              []ssh.AuthMethod{auth},
		HostKeyCallback:   known.HostKeyCallback(),
		HostKeyAlgorithms: hostKeyAlgorithms(known, address),
	}, keys, nil
}

// hostKeyAlgorithms returns the algorithms of the keys that known_hosts lists for a
// server; all of them if it lists a certificate authority, which may sign keys of every
// kind.
func hostKeyAlgorithms(known *knownhosts.HostKeyDB, address string) []string {
	algorithms := known.HostKeyAlgorithms(address)
	if !slices.ContainsFunc(known.HostKeys(address), func(key knownhosts.PublicKey) bool { return key.Cert }) {
		return algorithms
	}
	for _, name := range []string{
		ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
		ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01,
	} {
		if !slices.Contains(algorithms, name) {
			algorithms = append(algorithms, name)
		}
	}
	return algorithms
}

// sshAuth returns the login with the given key, else with the ssh agent's keys, and the
// agent's connection, to be closed.
func sshAuth(ctx context.Context, given ssh.Signer) (ssh.AuthMethod, io.Closer, error) {
	if given != nil {
		return ssh.PublicKeys(given), io.NopCloser(nil), nil
	}
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, nil, errors.New("there is no ssh agent (SSH_AUTH_SOCK is not set); start one and add a key with ssh-add")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, errors.New("the ssh agent of SSH_AUTH_SOCK does not answer; start one and add a key with ssh-add")
	}
	return ssh.PublicKeysCallback(agent.NewClient(conn).Signers), conn, nil
}

// knownHosts returns the given known_hosts lines; without any, lines of the files that
// SSH_KNOWN_HOSTS lists, else of ssh's system and user files.
func knownHosts(given []byte) (*knownhosts.HostKeyDB, error) {
	if len(given) > 0 {
		return givenHosts(given)
	}
	files := filepath.SplitList(os.Getenv("SSH_KNOWN_HOSTS"))
	if len(files) == 0 {
		files = []string{"/etc/ssh/ssh_known_hosts"}
		if home, err := os.UserHomeDir(); err == nil {
			files = append(files, filepath.Join(home, ".ssh", "known_hosts"))
		}
	}
	var there []string
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			there = append(there, file)
		}
	}
	if len(there) == 0 {
		return nil, errors.New("there is no known_hosts file to know the server by; add its key, or name a file in SSH_KNOWN_HOSTS")
	}
	known, err := knownhosts.NewDB(there...)
	if err != nil {
		return nil, errors.New("the known_hosts file cannot be read")
	}
	return known, nil
}

// givenHosts parses known_hosts lines through a temporary file, because the library
// reads only files. They are no secret.
func givenHosts(lines []byte) (*knownhosts.HostKeyDB, error) {
	file, err := os.CreateTemp("", "known_hosts")
	if err != nil {
		return nil, fmt.Errorf("keeping the known hosts: %w", err)
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(lines)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("keeping the known hosts: %w", err)
	}
	known, err := knownhosts.NewDB(file.Name())
	if err != nil {
		return nil, errors.New("the known hosts of the Secret cannot be read")
	}
	return known, nil
}

func (o SSHOptions) explainSSH(ctx context.Context, err error, host string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case knownhosts.IsHostKeyChanged(err):
		return fmt.Errorf("%s shows another key than known_hosts has for it: it may not be the server it was", host)
	case knownhosts.IsHostUnknown(err):
		return fmt.Errorf("the key of %s is not in known_hosts; check it and add it", host)
	case strings.Contains(err.Error(), "unable to authenticate"):
		return fmt.Errorf("%s takes none of the keys that it is shown", host)
	}
	return o.Explain(err, host)
}

// sshCommand is a git-upload-pack that runs on the server.
type sshCommand struct {
	session *ssh.Session
	in      io.WriteCloser
	out     io.Reader
	said    *firstBytes
}

func (g *sshRemote) start() (*sshCommand, error) {
	session, err := g.client.NewSession()
	if err != nil {
		return nil, fmt.Errorf("%s opens no session", g.host)
	}
	c := &sshCommand{session: session, said: &firstBytes{}}
	session.Stderr = c.said
	if c.in, err = session.StdinPipe(); err == nil {
		c.out, err = session.StdoutPipe()
	}
	if err == nil {
		err = session.Start(g.command)
	}
	if err != nil {
		_ = session.Close()
		return nil, fmt.Errorf("%s does not run git-upload-pack", g.host)
	}
	return c, nil
}

func (g *sshRemote) Advertise(ctx context.Context) (*packp.AdvRefs, error) {
	stop := context.AfterFunc(ctx, func() { _ = g.client.Close() })
	defer stop()
	c, err := g.start()
	if err != nil {
		return nil, err
	}
	answer := g.answer(ctx, c.out, RefsBytes)
	offered, err := ReadRefs(ctx, answer)
	answer.stop()
	if err != nil {
		return nil, g.refused(ctx, c, err)
	}
	g.open = c
	return offered, nil
}

// refused returns an error for a server that lists no refs, with what it wrote to
// standard error.
func (g *sshRemote) refused(ctx context.Context, c *sshCommand, err error) error {
	_ = c.in.Close()
	_ = c.session.Wait() // after it, all was said; a server that stays silent is hung up on
	switch said, _, _ := strings.Cut(c.said.kept.String(), "\n"); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case said != "":
		return fmt.Errorf("%s says %s", g.host, bounded.Quote(said))
	}
	return err
}

// Upload sends a request in the session where the server listed its refs; for a second
// request it opens another session.
func (g *sshRemote) Upload(ctx context.Context, request []byte) (io.ReadCloser, error) {
	if g.open == nil {
		if _, err := g.Advertise(ctx); err != nil {
			return nil, err
		}
	}
	c := g.open
	g.open = nil
	stop := context.AfterFunc(ctx, func() { _ = g.client.Close() })
	_, err := c.in.Write(request)
	stop()
	if err != nil {
		return nil, g.options.explainSSH(ctx, err, g.host)
	}
	_ = c.in.Close()
	body := g.answer(ctx, c.out, g.options.MostBytes)
	end := body.stop
	body.stop = func() {
		end()
		_ = c.session.Close()
	}
	return body, nil
}

// answer returns the output of a command on the server, at most `most` bytes. The
// connection is closed when ctx ends or the server is too slow.
func (g *sshRemote) answer(ctx context.Context, r io.Reader, most int64) *sshBody {
	ctx, cancel := context.WithCancelCause(ctx)
	hangUp := context.AfterFunc(ctx, func() { _ = g.client.Close() })
	paced := bounded.NewPacedBody(ctx, io.NopCloser(r), g.options.Patience, cancel)
	return &sshBody{
		Reader: &bounded.PeerReader{Reader: paced, Host: g.host, Left: most, Most: most, Explain: g.options.Explain},
		stop: func() {
			hangUp()
			_ = paced.Close()
		},
	}
}

// sshBody is the output of a command on the server.
type sshBody struct {
	io.Reader
	stop func()
}

// Close ends the reading.
func (b *sshBody) Close() error {
	b.stop()
	return nil
}

// Close hangs up.
func (g *sshRemote) Close() error { return errors.Join(g.client.Close(), g.agent.Close()) }

// firstBytes keeps the first bytes that a server writes to standard error and drops the
// rest. It does not embed bytes.Buffer, whose ReadFrom would keep all of them.
type firstBytes struct{ kept bytes.Buffer }

func (f *firstBytes) Write(p []byte) (int, error) {
	const most = 1 * bounded.KiB
	if room := most - f.kept.Len(); room > 0 {
		f.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
