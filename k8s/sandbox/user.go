package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User issues a client certificate for a user with this name and these groups,
// and returns the path of a kubeconfig with it. The API server knows such users
// by their certificate alone; RBAC decides what they may do.
func (s *Sandbox) User(name string, groups ...string) (kubeconfig string, err error) {
	cert, key, err := s.issue(pkix.Name{CommonName: name, Organization: groups})
	if err != nil {
		return "", fmt.Errorf("making sandbox user %q: %w", name, err)
	}
	ca, err := os.ReadFile(s.state.CACert)
	if err != nil {
		return "", fmt.Errorf("making sandbox user %q: %w", name, err)
	}
	const cluster = "kubectl-operator-sandbox"
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: s.state.Server, CertificateAuthorityData: ca}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[cluster] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: name}
	config.CurrentContext = cluster
	data, err := clientcmd.Write(*config)
	if err != nil {
		return "", fmt.Errorf("making sandbox user %q: %w", name, err)
	}
	// Beside the keys: that directory goes with the control plane.
	f, err := os.CreateTemp(filepath.Dir(s.state.CAKey), "user-*.kubeconfig")
	if err != nil {
		return "", fmt.Errorf("making sandbox user %q: %w", name, err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return "", fmt.Errorf("making sandbox user %q: %w", name, err)
	}
	return f.Name(), nil
}

// issue returns a client certificate for subject and its key, both in PEM.
func (s *Sandbox) issue(subject pkix.Name) (cert, key []byte, err error) {
	pair, err := readAuthority(s.state.CACert, s.state.CAKey)
	if err != nil {
		return nil, nil, err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		Subject:     subject,
		NotBefore:   now.Add(-time.Minute),
		NotAfter:    now.Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, pair.cert, private.Public(), pair.key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	return cert, key, nil
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func readAuthority(certPath, keyPath string) (authority, error) {
	certDER, err := readPEM(certPath)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(certDER)
	if err != nil {
		return authority{}, fmt.Errorf("reading %s: %w", certPath, err)
	}
	keyDER, err := readPEM(keyPath)
	if err != nil {
		return authority{}, err
	}
	key, err := x509.ParseECPrivateKey(keyDER)
	if err != nil {
		return authority{}, fmt.Errorf("reading %s: %w", keyPath, err)
	}
	return authority{cert: cert, key: key}, nil
}

func readPEM(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("reading %s: %w", path, errors.New("it holds no PEM block"))
	}
	return block.Bytes, nil
}
