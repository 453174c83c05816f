package cli

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// sourceFlags say how content is fetched.
type sourceFlags struct {
	registryConfig, cacheDir, caFile, platform string
	plainHTTP                                  bool
	pullSecrets, insecureRegistries            []string
	privateAddresses                           []string
	plugins                                    bool // of a command that is about plugin sets alone
}

func (f *sourceFlags) add(flags *pflag.FlagSet) {
	f.addRegistry(flags)
	flags.StringArrayVar(&f.pullSecrets, "pull-secret", nil, "Secret of the cluster with registry credentials, as NAMESPACE/NAME; read with your rights (repeatable)")
	flags.StringVar(&f.cacheDir, "cache-dir", "", "where downloaded content is kept by digest (default: the user's cache directory)")
	flags.StringVar(&f.platform, "platform", "", "platform to pick from a multi-platform image, as OS/ARCH (default linux/amd64, on every machine); of a PluginSet also several with commas between, or all")
}

// addPlugins adds the flags of commands that read plugin sets, which are for the
// platform of the machine.
func (f *sourceFlags) addPlugins(flags *pflag.FlagSet) {
	f.addConfig(flags)
	flags.StringVar(&f.platform, "platform", "", "platform that the plugins are for, as OS/ARCH, several with commas between, or all of those that the config and its lock name: one review and one content digest for every machine (default: this machine's)")
	f.plugins = true
}

// addConfig adds the flags of commands that fetch no plugins, and maybe their
// config from a server.
func (f *sourceFlags) addConfig(flags *pflag.FlagSet) {
	f.addRegistry(flags)
	flags.StringVar(&f.cacheDir, "cache-dir", "", "where downloaded content is kept by digest (default: the user's cache directory)")
}

// addRegistry adds the flags of commands that read nothing but saved plans.
func (f *sourceFlags) addRegistry(flags *pflag.FlagSet) {
	flags.StringVar(&f.registryConfig, "registry-config", "", "Docker config file with registry credentials (default: the user's own)")
	flags.StringVar(&f.caFile, "ca-file", "", "PEM file of certificate authorities that registries may use, besides the system's")
	flags.StringArrayVar(&f.insecureRegistries, "insecure-registry", nil, "registry, HOST or HOST:PORT, whose certificate is not verified (repeatable)")
	flags.StringArrayVar(&f.privateAddresses, "allow-private-address", nil, "private address, ADDRESS or ADDRESS:PORT, that a server may lead to: blobs of a registry on storage by address, its token server (repeatable; others are refused)")
	flags.BoolVar(&f.plainHTTP, "plain-http", false, "allow registries without TLS")
}

var (
	platform     = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
	registryHost = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)
)

func (f *sourceFlags) check() error {
	if err := f.checkPlatforms(); err != nil {
		return err
	}
	for _, host := range f.insecureRegistries {
		if !registryHost.MatchString(host) {
			return Usagef("--insecure-registry %s: want HOST or HOST:PORT", host)
		}
	}
	if _, err := f.addresses(); err != nil {
		return err
	}
	for _, secret := range f.pullSecrets {
		namespace, name, _ := strings.Cut(secret, "/")
		if !ref.IsName(namespace) || !ref.IsName(name) {
			return Usagef("--pull-secret %s: want NAMESPACE/NAME", secret)
		}
	}
	return nil
}

// addresses are the private addresses that servers may lead to.
func (f *sourceFlags) addresses() ([]netip.AddrPort, error) {
	var out []netip.AddrPort
	for _, text := range f.privateAddresses {
		address, err := source.ParsePrivateAddress(text)
		if err != nil {
			return nil, Usagef("--allow-private-address %s: want ADDRESS or ADDRESS:PORT, such as 10.0.0.5:9000", text)
		}
		out = append(out, address)
	}
	return out, nil
}

// severalPlatforms reports whether a plugin set is wanted for more platforms than
// one, or may be.
func (f *sourceFlags) severalPlatforms() bool {
	return f.platform == plugins.AllPlatforms || strings.Contains(f.platform, ",")
}

func (f *sourceFlags) checkPlatforms() error {
	if f.platform == "" || f.platform == plugins.AllPlatforms {
		return nil
	}
	for _, one := range strings.Split(f.platform, ",") {
		if !platform.MatchString(one) {
			return Usagef("--platform %s: want OS/ARCH, such as linux/arm64; for a plugin set also several with commas between, or all", f.platform)
		}
	}
	return nil
}

// sourceOptions put flags and configuration together.
func (a *app) sourceOptions(f sourceFlags, progress func(string)) (source.Options, error) {
	if err := f.check(); err != nil {
		return source.Options{}, err
	}
	addresses, err := f.addresses()
	if err != nil {
		return source.Options{}, err
	}
	configured, err := a.config()
	if err != nil {
		return source.Options{}, err
	}
	mirrors, err := configured.ReadMirrors()
	if err != nil {
		return source.Options{}, err
	}
	timeout, err := a.kube.RequestTimeout()
	if err != nil {
		return source.Options{}, Usagef("--request-timeout: %s", err)
	}
	meter := &downloadMeter{say: progress, now: time.Now}
	if f.severalPlatforms() {
		f.platform = "" // what is fetched for each names it
	}
	return source.Options{
		CacheDir: f.cacheDir, CacheBytes: configured.Cache.MaxBytes,
		RegistryConfig: f.registryConfig, PullSecrets: f.pullSecrets,
		CAFile: f.caFile, InsecureRegistries: f.insecureRegistries, PlainHTTP: f.plainHTTP,
		PrivateAddresses: addresses,
		Platform:         f.platform, Mirrors: mirrors, RequestTimeout: timeout, Progress: meter.update,
	}, nil
}

// targetCluster reads from the cluster a command is about. It connects when
// something is first asked for.
type targetCluster struct{ planner *planner }

// Get implements [format.Cluster] and [source.Getter].
func (t targetCluster) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	client, err := t.planner.connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, ref)
}

// List implements [format.Cluster].
func (t targetCluster) List(ctx context.Context, apiVersion, kind, namespace string) ([]map[string]any, error) {
	client, err := t.planner.connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.List(ctx, apiVersion, kind, namespace, "")
}

// Version implements [format.Cluster].
func (t targetCluster) Version(ctx context.Context) (string, error) {
	client, err := t.planner.connect(ctx)
	if err != nil {
		return "", err
	}
	target, err := client.Target(ctx)
	if target.Version != "" && preview.ReasonOf(err) == preview.ReasonForbidden {
		return target.Version, nil // only the cluster's identity may not be read
	}
	return target.Version, err
}

// APIVersions implements [format.Cluster].
func (t targetCluster) APIVersions(ctx context.Context) ([]string, error) {
	client, err := t.planner.connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.APIVersions(ctx)
}

// downloadMeter tells a person of a download that takes longer than one
// notices, and then once a second.
type downloadMeter struct {
	say           func(string)
	now           func() time.Time
	reference     string
	started, said time.Time
}

const (
	noticeable = 200 * time.Millisecond
	meterPause = time.Second
)

func (m *downloadMeter) update(p source.Progress) {
	now := m.now()
	if p.Reference != m.reference {
		m.reference, m.started, m.said = p.Reference, now, time.Time{}
	}
	finished := p.Total > 0 && p.Done >= p.Total && !m.said.IsZero()
	if now.Sub(m.started) < noticeable || now.Sub(m.said) < meterPause && !finished {
		return
	}
	m.said = now
	amount := mebibytes(p.Done) + " MiB"
	if p.Total > 0 {
		amount = mebibytes(p.Done) + " of " + mebibytes(p.Total) + " MiB"
	}
	m.say(fmt.Sprintf("downloading %s: %s", p.Reference, amount))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<20)) }
