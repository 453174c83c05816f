package controlplane

import (
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-operator/kubectl-operator/cmd/sandbox/internal/pki"
)

//go:embed config/audit-policy.yaml
var auditPolicy []byte

//go:embed config/egress.yaml
var egressTemplate string

// account is a user who authenticates with a token, and the kubeconfig with that.
type account struct {
	user       string
	kubeconfig string
	token      string
}

// newAccounts returns the accounts of the user and the components. All are in
// system:masters; their names tell them apart in the audit log.
func newAccounts(l layout) []account {
	accounts := []account{
		{user: "kubernetes-admin", kubeconfig: l.kubeconfig()},
		{user: "system:kube-controller-manager", kubeconfig: l.configFile("kube-controller-manager.kubeconfig")},
		{user: "system:kube-scheduler", kubeconfig: l.configFile("kube-scheduler.kubeconfig")},
		{user: "system:node:" + nodeName, kubeconfig: l.configFile("kwok.kubeconfig")},
	}
	for i := range accounts {
		accounts[i].token = randomToken()
	}
	return accounts
}

// randomToken returns a token of 256 random bits. crypto/rand.Read never
// returns an error.
func randomToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// writeConfig writes all files that the components read, into the sandbox's directory.
func writeConfig(l layout, server string) error {
	for _, dir := range []string{l.logs(), l.etcd(), l.pki(), l.config()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the sandbox's directories: %w", err)
		}
	}
	if err := writeCertificates(l); err != nil {
		return err
	}
	accounts := newAccounts(l)
	var tokens strings.Builder
	for _, a := range accounts {
		fmt.Fprintf(&tokens, "%s,%s,%s,system:masters\n", a.token, a.user, a.user)
		if err := writeKubeconfig(l, server, a); err != nil {
			return err
		}
	}
	kwok, err := kwokConfig()
	if err != nil {
		return err
	}
	egress := strings.ReplaceAll(egressTemplate, "SOCKET", l.egress())
	for name, data := range map[string][]byte{
		"tokens.csv":        []byte(tokens.String()),
		"audit-policy.yaml": auditPolicy,
		"egress.yaml":       []byte(egress),
		"kwok.yaml":         kwok,
	} {
		if err := os.WriteFile(l.configFile(name), data, 0o600); err != nil {
			return fmt.Errorf("writing the sandbox's configuration: %w", err)
		}
	}
	return nil
}

func writeCertificates(l layout) error {
	ca, err := pki.NewAuthority(l.pki())
	if err != nil {
		return err
	}
	if err := ca.Issue("etcd", "etcd", "127.0.0.1"); err != nil {
		return err
	}
	err = ca.Issue("apiserver", "kube-apiserver", "127.0.0.1", "localhost", "10.96.0.1",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return err
	}
	if err := ca.Issue("kubelet", "system:node:"+nodeName, "127.0.0.1"); err != nil {
		return err
	}
	_, err = pki.NewKey(l.key("service-account"))
	return err
}

func writeKubeconfig(l layout, server string, a account) error {
	ca, err := os.ReadFile(l.cert("ca"))
	if err != nil {
		return fmt.Errorf("writing kubeconfig: %w", err)
	}
	const name = "kubectl-operator-sandbox"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos[a.user] = &clientcmdapi.AuthInfo{Token: a.token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: a.user}
	config.CurrentContext = name
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding kubeconfig: %w", err)
	}
	if err := os.WriteFile(a.kubeconfig, data, 0o600); err != nil {
		return fmt.Errorf("writing kubeconfig: %w", err)
	}
	return nil
}

// writeState replaces state.json atomically, so that no reader sees half of it.
func writeState(l layout, state State) error {
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the sandbox's state: %w", err)
	}
	temp := l.state() + ".new"
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the sandbox's state: %w", err)
	}
	if err := os.Rename(temp, l.state()); err != nil {
		return fmt.Errorf("writing the sandbox's state: %w", err)
	}
	return nil
}
