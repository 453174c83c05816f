// Package controlplane starts the components of a Kubernetes control plane as
// child processes on loopback addresses, waits until the cluster can run pods,
// and stops them.
package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
)

// Options of Serve.
type Options struct {
	// Dir holds everything that is written: data, keys, logs. It is made with
	// mode 0700 when it is missing. One control plane at a time serves a Dir.
	Dir string
	// Port of the API server on 127.0.0.1; 0 takes a free one.
	Port int
	// Temporary removes Dir at the end, however it comes. Otherwise Dir stays,
	// with all in it when the control plane failed.
	Temporary bool
	// Ready is called once, when the cluster can run pods. Its error ends Serve.
	Ready func(State) error
}

// State is where a ready control plane has its API server and files. It is also
// written to Dir/state.json. All paths are absolute.
type State struct {
	// PID of the supervisor; SIGTERM to it stops everything.
	PID int `json:"pid"`
	// Server is the URL of the API server.
	Server string `json:"server"`
	// Kubeconfig of a user in system:masters, mode 0600.
	Kubeconfig string `json:"kubeconfig"`
	// AuditLog of the API server: one JSON event a line.
	AuditLog string `json:"auditLog"`
	// Logs is the directory of the components' logs.
	Logs string `json:"logs"`
	// CACert and CAKey are the authority whose client certificates the API
	// server accepts: common name is the user, organizations are the groups.
	CACert string `json:"caCert"`
	CAKey  string `json:"caKey"`
	// Processes are the components' process ids by name.
	Processes map[string]int `json:"processes"`
}

// layout is the path of Options.Dir; its methods return the paths of the files there.
type layout string

func (l layout) lock() string         { return filepath.Join(string(l), "lock") }
func (l layout) state() string        { return filepath.Join(string(l), "state.json") }
func (l layout) kubeconfig() string   { return filepath.Join(string(l), "kubeconfig") }
func (l layout) audit() string        { return filepath.Join(string(l), "audit.log") }
func (l layout) logs() string         { return filepath.Join(string(l), "logs") }
func (l layout) etcd() string         { return filepath.Join(string(l), "etcd") }
func (l layout) pki() string          { return filepath.Join(string(l), "pki") }
func (l layout) cert(n string) string { return filepath.Join(string(l), "pki", n+".crt") }
func (l layout) key(n string) string  { return filepath.Join(string(l), "pki", n+".key") }
func (l layout) config() string       { return filepath.Join(string(l), "config") }

// configFile returns the path of a file that is made for a component, such as
// the audit policy.
func (l layout) configFile(name string) string { return filepath.Join(l.config(), name) }

// egress returns the path of the socket for the API server's connections into the
// cluster's network.
func (l layout) egress() string { return l.configFile("egress.sock") }

// noNetwork returns the path of a socket that exists only if a test makes it. Its name
// is in the error that users read when the API server cannot reach a webhook's Service.
func (l layout) noNetwork() string { return l.configFile("the-sandbox-has-no-pod-network") }

// clear deletes the files that a control plane leaves in its directory, and no
// others, in case the user named a directory with other files.
func (l layout) clear() error {
	// Rotation puts a time between "audit" and ".log"; the pattern is well formed.
	rotated, _ := filepath.Glob(filepath.Join(string(l), "audit-*.log"))
	ours := append(rotated, l.state(), l.kubeconfig(), l.audit(), l.logs(), l.etcd(), l.pki(), l.config())
	for _, path := range ours {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("removing what a sandbox left: %w", err)
		}
	}
	return nil
}
