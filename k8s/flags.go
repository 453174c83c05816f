package k8s

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Flags are kubectl's own flags for choosing a cluster and a user.
type Flags struct {
	config *genericclioptions.ConfigFlags
}

// NewFlags returns the flags with kubectl's defaults.
func NewFlags() *Flags {
	config := genericclioptions.NewConfigFlags(false)
	// Discovery is cached in memory only: a cache on disk hides a CRD just
	// applied. The name belongs to the cache of downloaded content.
	config.CacheDir = nil
	return &Flags{config: config}
}

// AddFlags adds the flags to a command: --kubeconfig, --context,
// --namespace/-n, --as, --as-group, --server/-s, --token, --request-timeout and
// the others of kubectl except --cache-dir.
func (f *Flags) AddFlags(flags *pflag.FlagSet) { f.config.AddFlags(flags) }

// Namespace returns the value of --namespace, empty if it is not given.
func (f *Flags) Namespace() string { return *f.config.Namespace }

// ContextNamespace returns the namespace that the context of the kubeconfig has, where a
// user has chosen one. It is empty for default, which kubectl takes without a choice too.
func (f *Flags) ContextNamespace() string {
	raw, err := f.config.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return "" // as contacting the cluster says
	}
	name := raw.CurrentContext
	if *f.config.Context != "" {
		name = *f.config.Context
	}
	chosen := raw.Contexts[name]
	if chosen == nil || chosen.Namespace == "default" {
		return ""
	}
	return chosen.Namespace
}

// RequestTimeout returns the value of --request-timeout, 0 when it was not
// given.
func (f *Flags) RequestTimeout() (time.Duration, error) {
	return clientcmd.ParseTimeout(*f.config.Timeout)
}

// Contexts returns the names of the kubeconfig's contexts, sorted.
func (f *Flags) Contexts() ([]string, error) {
	raw, err := f.config.ToRawKubeConfigLoader().RawConfig()
	return slices.Sorted(maps.Keys(raw.Contexts)), err
}

// Clusters returns the names of the kubeconfig's clusters, sorted.
func (f *Flags) Clusters() ([]string, error) {
	raw, err := f.config.ToRawKubeConfigLoader().RawConfig()
	return slices.Sorted(maps.Keys(raw.Clusters)), err
}

// Users returns the names of the kubeconfig's users, sorted.
func (f *Flags) Users() ([]string, error) {
	raw, err := f.config.ToRawKubeConfigLoader().RawConfig()
	return slices.Sorted(maps.Keys(raw.AuthInfos)), err
}

// connection is the client configuration that results from a kubeconfig and the flags.
type connection struct {
	rest          *rest.Config
	timeout       time.Duration // of one request, 0 for none given
	context, user string        // names in the kubeconfig; user is --as where given
}

// load reads the kubeconfig: the named file, or the usual ones if it is empty.
func (f *Flags) load(kubeconfig string) (*connection, error) {
	if kubeconfig != "" {
		f.config.KubeConfig = &kubeconfig
	}
	loader := f.config.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("reading the kubeconfig: %w; check --kubeconfig", err)
		}
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if err := f.checkCluster(raw, loader.ConfigAccess().GetDefaultFilename()); err != nil {
		return nil, err
	}
	config, err := f.config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w; check --kubeconfig and --context", err)
	}
	c := &connection{rest: config, timeout: config.Timeout, context: raw.CurrentContext}
	if name := *f.config.Context; name != "" {
		c.context = name
	}
	if context := raw.Contexts[c.context]; context != nil {
		c.user = context.AuthInfo
	}
	if name := *f.config.AuthInfoName; name != "" {
		c.user = name
	}
	if name := config.Impersonate.UserName; name != "" {
		c.user = name
	}
	return c, nil
}

// checkCluster returns an error if neither kubeconfig nor flags name a cluster. Without
// it, clientcmd would try localhost:8080, and its error would not say what is missing.
func (f *Flags) checkCluster(raw clientcmdapi.Config, file string) error {
	switch {
	case *f.config.APIServer != "" || os.Getenv("KUBERNETES_MASTER") != "" || runsInCluster():
		return nil
	case len(raw.Clusters) == 0:
		return fmt.Errorf("no kubeconfig: %s names no cluster; set --kubeconfig or KUBECONFIG, or start one with \"kubectl operator sandbox up\"", file)
	case raw.CurrentContext == "" && *f.config.Context == "" && *f.config.ClusterName == "":
		return errors.New("the kubeconfig has no current context; set --context, or choose one with \"kubectl config use-context\"")
	}
	return nil
}

// runsInCluster reports whether clientcmd would use the ServiceAccount of the
// pod that this process runs in.
func runsInCluster() bool {
	_, err := os.Stat("/var/run/secrets/kubernetes.io/serviceaccount/token")
	return err == nil && os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == ""
}

// serverWithoutCredentials returns a server's URL without the user and password in it.
func serverWithoutCredentials(host string) string {
	u, err := url.Parse(host)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
