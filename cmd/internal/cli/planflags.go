package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// addSelectionFlags adds the flags that choose among a package's versions.
func addSelectionFlags(flags *pflag.FlagSet, o *planning.Selection) {
	flags.StringVar(&o.Version, "version", "", "version or range of the package, such as 1.10.0 or '>=1.8 <2'")
	flags.StringVar(&o.Channel, "channel", "", "channel of the package (default: the package's default channel)")
	addCatalogFlag(flags, &o.Catalogs)
}

func addCatalogFlag(flags *pflag.FlagSet, into *[]string) {
	flags.StringArrayVar(into, "catalog", nil, "file-based catalog to resolve packages in: a directory, an image, clustercatalog:NAME, catalogsource:NAMESPACE/NAME or a name from the configuration (repeatable; default: all configured, else those of the cluster)")
}

// addRenderFlags adds the flags that configure a bundle.
func addRenderFlags(flags *pflag.FlagSet, o *planning.RenderOptions) {
	flags.StringVar(&o.InstallMode, "install-mode", "", "AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace (default: the only one the bundle supports, else AllNamespaces)")
	flags.StringArrayVar(&o.WatchNamespaces, "watch-namespace", nil, "namespace the operator watches (repeatable)")
	flags.StringArrayVar(&o.Values, "values", nil, "YAML file of values (repeatable; later files win)")
	flags.StringArrayVar(&o.Set, "set", nil, "one value as KEY=VALUE, KEY a dotted path (repeatable; wins over --values)")
	flags.StringVar(&o.Certs, "certs", "", "who issues webhook certificates: cert-manager, service-ca or none (default: cert-manager when the bundle has webhooks)")
	flags.StringVar(&o.KubeVersion, "kube-version", "", "Kubernetes version to render for, recorded in the plan, such as v1.37.1")
	flags.StringArrayVar(&o.APIVersions, "api-versions", nil, "API version to assume served when rendering, such as monitoring.coreos.com/v1 (repeatable)")
	flags.BoolVar(&o.PinImages, "pin-images", false, "resolve the tags of the pods' images and apply the digests behind them; say which nodes they do not run on")
}

// addReadFlags adds the flags that say how the cluster is read, and whether it is.
func addReadFlags(flags *pflag.FlagSet, o *planning.ReadOptions, offline bool) {
	if offline {
		flags.BoolVar(&o.Offline, "offline", false, "contact no cluster: plan for an empty one; references resolved before come from the cache")
	}
	flags.StringVar(&o.Mode, "read-only", string(preview.ReadDryRun), "how a plan reads the cluster: dry-run (gets and server-side dry runs) or get (gets alone; what the API server would add or refuse stays open)")
}

// addRecordFlags adds the flag that names the key of records.
func addRecordFlags(flags *pflag.FlagSet, o *planning.RecordOptions) {
	flags.StringVar(&o.Key, "record-key", "", "key that signs the records of releases, and by which they are verified; a public key only verifies (default: records of the configuration)")
}

// addSourceFlags adds the flags that say how content is fetched.
func addSourceFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	addRegistryFlags(flags, o)
	flags.StringArrayVar(&o.PullSecrets, "pull-secret", nil, "Secret of the cluster with registry credentials, as NAMESPACE/NAME; read with your rights (repeatable)")
	flags.StringVar(&o.CacheDir, "cache-dir", "", "where downloaded content is kept by digest (default: the user's cache directory)")
	flags.StringVar(&o.Platform, "platform", "", "platform to pick from a multi-platform image, as OS/ARCH (default linux/amd64, on every machine); of a PluginSet also several with commas between, or all")
}

// addSetSourceFlags adds the flags of commands that read plugin sets, which are for the
// platform of the machine.
func addSetSourceFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	addConfigSourceFlags(flags, o)
	flags.StringVar(&o.Platform, "platform", "", "platform that the plugins are for, as OS/ARCH, several with commas between, or all of those that the config and its lock name: one review and one content digest for every machine (default: this machine's)")
	o.SetsAlone = true
}

// addConfigSourceFlags adds the flags of commands that fetch no plugins, and maybe their
// config from a server.
func addConfigSourceFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	addRegistryFlags(flags, o)
	flags.StringVar(&o.CacheDir, "cache-dir", "", "where downloaded content is kept by digest (default: the user's cache directory)")
}

// addRegistryFlags adds the flags of commands that read nothing but saved plans.
func addRegistryFlags(flags *pflag.FlagSet, o *planning.SourceOptions) {
	flags.StringVar(&o.RegistryConfig, "registry-config", "", "Docker config file with registry credentials (default: the user's own)")
	flags.StringVar(&o.CAFile, "ca-file", "", "PEM file of certificate authorities that registries may use, besides the system's")
	flags.StringArrayVar(&o.InsecureRegistries, "insecure-registry", nil, "registry, HOST or HOST:PORT, whose certificate is not verified (repeatable)")
	flags.StringArrayVar(&o.PrivateAddresses, "allow-private-address", nil, "private address, ADDRESS or ADDRESS:PORT, that a server may lead to: blobs of a registry on storage by address, its token server (repeatable; others are refused)")
	flags.BoolVar(&o.PlainHTTP, "plain-http", false, "allow registries without TLS")
}

// addSignatureFlags adds the flags that say whose signatures are asked for.
func addSignatureFlags(flags *pflag.FlagSet, o *planning.SignatureOptions) {
	flags.StringVar(&o.Mode, "verify", "", "signatures of images: required, if-present or off (default: required when a signer is named, else if-present)")
	flags.StringVar(&o.Signer.Key, "verify-key", "", "PEM file of public keys, one of which must have signed")
	flags.StringVar(&o.Signer.Identity, "certificate-identity", "", "who must have signed keyless, exactly as in the certificate (with --certificate-oidc-issuer and --trusted-root)")
	flags.StringVar(&o.Signer.Issuer, "certificate-oidc-issuer", "", "OIDC issuer that must have vouched for the identity")
	flags.StringVar(&o.Signer.TrustedRoot, "trusted-root", "", "file of a Sigstore trusted root; none is ever fetched")
}

// addPartFlags adds the flags that say which part of the content is meant, and
// what it is.
func addPartFlags(flags *pflag.FlagSet, o *planning.ContentOptions) {
	flags.StringVar(&o.Format, "format", "", "format of the content: "+planning.FormatNames()+", or the NAME of a program kubectl-operator-format-NAME on the PATH (default: what the content looks like)")
	flags.StringVar(&o.Path, "path", "", "directory within the content to use, as SUBDIR or DIR/SUBDIR; of plain manifests those in its manifests/ count, else those at its top, else all below it")
}

// requestFlags name request files.
type requestFlags struct {
	files   []string
	options *planning.RequestOptions
}

// open takes standard input for the file, before it is decided whether a person
// can be asked.
func (f *requestFlags) open(s *streams.Streams) {
	if slices.Contains(f.files, planning.StandardInput) {
		f.options.Stdin = s.TakeInput()
	}
}

func (f *requestFlags) add(flags *pflag.FlagSet, how string, o *planning.RequestOptions) {
	f.options = o
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "request file instead of REF: a Request, BundleDeployment, ClusterExtension, Subscription, HelmRelease, OCIRepository, Kustomization, Application, or a PluginSet with a host in the cluster; - is standard input"+how)
	flags.BoolVar(&o.CrossNamespaceSecrets, "allow-cross-namespace-secrets", false, "let a request file name credentials outside its own namespace")
}

// besides refuses what a request file says itself.
func (f *requestFlags) besides(flags *pflag.FlagSet, args []string) error {
	if len(f.files) == 0 {
		if f.options.CrossNamespaceSecrets {
			return usagef("--allow-cross-namespace-secrets is about request files; add -f FILE")
		}
		return nil
	}
	if len(f.files) > 1 && slices.Contains(f.files, planning.StandardInput) {
		return usagef("-f - is standard input, which is read once; give it alone")
	}
	if len(args) > 0 {
		return usagef("-f says what to install; leave out %q", args[0])
	}
	for _, name := range []string{"version", "channel", "install-mode", "watch-namespace", "values", "set", "certs", "format", "path"} {
		if flags.Changed(name) {
			return usagef("--%s: a request file says that itself; change it there", name)
		}
	}
	return nil
}

// againstFlag compares two versions without a cluster.
type againstFlag struct{ reference string }

func (f *againstFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.reference, "against", "", "compare with this version, as if it were installed: a REF like the other, rendered with the same flags; no cluster is contacted")
}

// check refuses what only a cluster can answer. It makes the plan offline.
func (f *againstFlag) check(flags *pflag.FlagSet, p *session) error {
	if !flags.Changed("against") {
		return nil
	}
	if f.reference == "" {
		return usagef("--against needs the version to compare with")
	}
	if len(p.requests.files) > 0 {
		return usagef("--against compares with a REF; -f cannot be compared")
	}
	for _, name := range []string{"read-only", "kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "as-uid", "pull-secret"} {
		if flags.Changed(name) {
			return usagef("--against contacts no cluster; leave out --%s", name)
		}
	}
	p.Read.Offline = true
	return nil
}

// policyFlags name the policy that findings are judged by.
type policyFlags struct {
	options *planning.PolicyOptions
	given   func(name string) bool
}

func (f *policyFlags) add(flags *pflag.FlagSet, o *planning.PolicyOptions) {
	f.given, f.options, o.Configured = flags.Changed, o, true
	flags.StringVar(&o.Path, "policy", "", "file of rules, severities and waivers that findings are judged by, before anybody is asked and at apply time (default: that of the configuration)")
}

// check refuses an empty name: a script whose variable is unset must not run
// without its policy.
func (f *policyFlags) check() error {
	if f.given != nil && f.given("policy") && f.options.Path == "" {
		return usagef("--policy needs a file; leave the flag out to use that of the configuration")
	}
	return nil
}

// addContentFlags adds the flags that choose and render content.
func addContentFlags(flags *pflag.FlagSet, o *planning.Options) {
	addSourceFlags(flags, &o.Source)
	addSignatureFlags(flags, &o.Signatures)
	addSelectionFlags(flags, &o.Selection)
	addPartFlags(flags, &o.Content)
	addRenderFlags(flags, &o.Render)
}
