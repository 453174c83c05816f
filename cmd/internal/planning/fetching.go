package planning

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// SourceOptions are the flags for fetching content.
type SourceOptions struct {
	RegistryConfig, CacheDir, CAFile, Platform string
	PlainHTTP                                  bool
	PullSecrets, InsecureRegistries            []string // NAMESPACE/NAME of Secrets; HOST or HOST:PORT
	PrivateAddresses                           []string // ADDRESS or ADDRESS:PORT
	// SetsAlone is set where only plugin sets are planned: these may be for
	// several platforms.
	SetsAlone bool
}

var (
	platform     = lazyregexp.New(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
	registryHost = lazyregexp.New(`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?$`)
)

func (f *SourceOptions) check() error {
	if err := f.checkPlatforms(); err != nil {
		return err
	}
	for _, host := range f.InsecureRegistries {
		if !registryHost.MatchString(host) {
			return Usagef("--insecure-registry %s: want HOST or HOST:PORT", host)
		}
	}
	if _, err := f.addresses(); err != nil {
		return err
	}
	for _, secret := range f.PullSecrets {
		namespace, name, _ := strings.Cut(secret, "/")
		if !ref.IsName(namespace) || !ref.IsName(name) {
			return Usagef("--pull-secret %s: want NAMESPACE/NAME", secret)
		}
	}
	return nil
}

// addresses parses the private addresses to which servers may redirect.
func (f *SourceOptions) addresses() ([]netip.AddrPort, error) {
	var out []netip.AddrPort
	for _, text := range f.PrivateAddresses {
		address, err := source.ParsePrivateAddress(text)
		if err != nil {
			return nil, Usagef("--allow-private-address %s: want ADDRESS or ADDRESS:PORT, such as 10.0.0.5:9000", text)
		}
		out = append(out, address)
	}
	return out, nil
}

// severalPlatforms reports whether --platform names several platforms, which
// only a plugin set can be planned for.
func (f *SourceOptions) severalPlatforms() bool {
	return f.Platform == plugins.AllPlatforms || strings.Contains(f.Platform, ",")
}

func (f *SourceOptions) checkPlatforms() error {
	if f.Platform == "" || f.Platform == plugins.AllPlatforms {
		return nil
	}
	for _, one := range strings.Split(f.Platform, ",") {
		if !platform.MatchString(one) {
			return Usagef("--platform %s: want OS/ARCH, such as linux/arm64; for a plugin set also several with commas between, or all", f.Platform)
		}
	}
	return nil
}

// fetching returns the settings for fetching content, from flags and configuration.
func (e Environment) fetching(f SourceOptions, progress func(string)) (source.Options, error) {
	if err := f.check(); err != nil {
		return source.Options{}, err
	}
	addresses, err := f.addresses()
	if err != nil {
		return source.Options{}, err
	}
	configured, err := e.Config()
	if err != nil {
		return source.Options{}, err
	}
	mirrors, err := configured.ReadMirrors()
	if err != nil {
		return source.Options{}, err
	}
	timeout, err := e.RequestTimeout()
	if err != nil {
		return source.Options{}, Usagef("--request-timeout: %s", err)
	}
	meter := &downloadMeter{say: progress, now: time.Now}
	if f.severalPlatforms() {
		f.Platform = "" // what is fetched for each names it
	}
	return source.Options{
		CacheDir: f.CacheDir, CacheBytes: configured.Cache.MaxBytes,
		RegistryConfig: f.RegistryConfig, PullSecrets: f.PullSecrets,
		CAFile: f.CAFile, InsecureRegistries: f.InsecureRegistries, PlainHTTP: f.PlainHTTP,
		PrivateAddresses: addresses,
		Platform:         f.Platform, Mirrors: mirrors, RequestTimeout: timeout, Progress: meter.update,
	}, nil
}

// Registries returns the settings of a planner for fetching what is no package.
func Registries(p *Planner, progress func(string)) (source.Options, error) {
	return p.env.fetching(p.Source, progress)
}

// downloadMeter reports the progress of a download once a second, if it takes
// longer than 200 ms.
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

// targetCluster reads from the planner's cluster. It connects when first used.
type targetCluster struct{ planner *Planner }

// Get reads an object, for [format.Cluster] and [source.Getter].
func (t targetCluster) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.Get(ctx, ref)
}

// List implements [format.Cluster].
func (t targetCluster) List(ctx context.Context, apiVersion, kind, namespace string) ([]map[string]any, error) {
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.List(ctx, apiVersion, kind, namespace, "")
}

// Version implements [format.Cluster].
func (t targetCluster) Version(ctx context.Context) (string, error) {
	client, err := t.planner.Connect(ctx)
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
	client, err := t.planner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.APIVersions(ctx)
}
