package rules

// Sentences that several rules in this file share.
const (
	noPart = "These files are part of the content, but nothing from them is applied."
)

// The rules about a package's content and its rendering.
var (
	ExternalFormat = row(Rule{
		Name: "external-format", Level: Medium, Title: "was rendered by an external program",
		Why:    "The objects were made by a program that ran with your permissions and without a sandbox: trust the review only as far as you trust that program.",
		Text:   "ran %s %s, with your rights, not sandboxed",
		Reduce: "Use a built-in format.",
		Looks:  "Formats named by --format, or in the configuration.",
	}.example("package/mongodb", "kubectl-operator-format-cue", "sha256:11"))
	ExternalSource = row(Rule{
		Name: "external-source", Level: Medium, Title: "was fetched by an external program",
		Why:    "The files came from a program that ran with your permissions and without a sandbox: trust their origin only as far as you trust that program.",
		Text:   "fetched by %s %s, with your rights, not sandboxed",
		Reduce: "Use a built-in source.",
		Looks:  "References source+NAME:ADDRESS.",
	}.example("package/mongodb", "kubectl-operator-source-hg", "sha256:11"))
	ExternalFormatWarning = row(Rule{
		Name: "external-format-warning", Level: Medium, Title: "has warnings from the format program",
		Why:     "The format program reported this problem when it rendered the package.",
		Reduce:  "Correct what the format program reports in the package or its values.",
		Looks:   "Results of severity warning that the program gave.",
		Example: noteExample("package/mongodb", "a value is deprecated"),
	})
	ExternalFormatSays = row(Rule{
		Name: "external-format-says", Level: Notice, Title: "has notes from the format program",
		Why:     "The format program reported this when it rendered the package.",
		Looks:   "Results of severity info that the program gave.",
		Example: noteExample("package/mongodb", "3 files were rendered"),
	})
	FilesNotRead = row(Rule{
		Name: "files-not-read", Level: Notice, Title: "has files that are not read",
		Why:     noPart,
		Reduce:  "Remove the files from the content, or select the intended directory with --path.",
		Looks:   "Manifests of the content that are not part of the package.",
		Example: noteExample("package/mongodb", "not read: docs/example.yaml"),
	})
	ToolConfigNotRead = row(Rule{
		Name: "tool-config-not-read", Level: Notice, Title: "configures another installer",
		Why:     "The files configure another installer, and their settings have no effect here.",
		Reduce:  "Set what matters with --values or --set.",
		Looks:   "Documents in the content that configure another installer and are not objects.",
		Example: noteExample("package/mongodb", "not read: kapp-config.yaml"),
	})
	NestedBundles = row(Rule{
		Name: "nested-bundles", Level: Notice, Title: "holds further bundles",
		Why:     "The content of an inner bundle is applied only if the outer bundle names it.",
		Reduce:  "Install each bundle by itself.",
		Looks:   "Bundles inside another bundle.",
		Example: noteExample("package/mongodb", "not read: bundles/other"),
	})
	ImageLocked = row(Rule{
		Name: "image-locked", Level: Notice, Title: "has images replaced by an image lock",
		Why:     "The images that run come from the package's image lock (images.yml), not from its manifests.",
		Looks:   "Image references of the content that an image lock (images.yml) replaces by digests.",
		Example: noteExample("package/mongodb", "registry.example.com/app:v1 is locked to registry.example.com/app@sha256:11"),
	})
	ImagesNotLocated = row(Rule{
		Name: "images-not-located", Level: Notice, Title: "may have images that were moved",
		Why:     "Where imgpkg copy moved a bundle, its images run from the bundle's own repository; the registry did not say whether it did.",
		Reduce:  "Preview again when the registry can be reached.",
		Looks:   "Bundles of imgpkg whose image locations could not be read.",
		Example: noteExample("package/mongodb", "whether \"imgpkg copy\" moved its images is not known"),
	})
	HookNotRun = row(Rule{
		Name: "hook-not-run", Level: Notice, Title: "is a hook that does not run here",
		Why:     "Helm or Argo CD would run this hook; this program does not.",
		Reduce:  "Run the hook by hand where it matters.",
		Looks:   "Chart hooks for events that do not occur here, such as test and rollback, and hooks of Argo CD Applications for SyncFail, Skip, PreDelete and PostDelete.",
		Example: noteExample("core/Pod/app/test", "it runs at test, which nothing here does; it is not installed"),
	})
	HookDangerous = row(Rule{
		Name: "hook-dangerous", Level: Critical, Title: "is a dangerous hook, which does not run here",
		Why:     "The hook is part of the package: Helm or Argo CD would run it, with the effects that its findings describe.",
		Reduce:  "Remove the hook from the package, or the permission or setting that the finding names.",
		Looks:   "Hooks for events that do not occur here, judged as if they were installed: their critical findings, 20 for each hook, with counts of the findings left out and of their warnings.",
		Example: Example{Of: "Job cleanup:", Evidence: "batch/Job/app/cleanup: runs a privileged container (container c: privileged)"},
	})
	HookKept = row(Rule{
		Name: "hook-kept", Level: Notice, Title: "has hooks whose objects stay",
		Why:    "Objects that hooks create are not deleted when the hook ends. They stay until a reviewed plan deletes them; a changed Job of the same name is deleted and created again.",
		Text:   "%s would delete after their hooks have run, and here stay until the release is removed: %s",
		Reduce: "Delete the objects by hand where it matters.",
		Looks:  "Hooks of charts, and of Argo CD's Applications, with a hook-delete-policy.",
	}.example("package/app", "Helm", "batch/Job/app/migrate"))
	ArgoCDHook = row(Rule{
		Name: "argo-cd-hook", Level: Notice, Title: "is a hook of Argo CD",
		Why:     "Argo CD runs a hook at every sync; here it runs again only when it has changed.",
		Looks:   "Objects that an Application asks for with argocd.argoproj.io/hook, or helm.sh/hook in its place: PreSync runs before the others, PostSync after them, in the order of waves.",
		Example: noteExample("batch/Job/app/migrate", "Argo CD's hook PreSync: it runs before the other objects, as hook of weight 0, and again when it changes"),
	})
	ArgoCDHookIgnored = row(Rule{
		Name: "argo-cd-hook-ignored", Level: Medium, Title: "carries Argo CD sync waves or hooks that have no effect",
		Why:     "Objects are applied in the order of their kinds, in the stages that the review lists. Where an object must wait for another of its kind, or must not run now, the result differs from Argo CD's.",
		Reduce:  "Install from an Argo CD Application, whose hooks run, or remove the annotations.",
		Looks:   "Annotations of Argo CD that have no effect here: sync-wave on objects that are not hooks, and hooks in content that no Application asks for.",
		Example: noteExample("package/app", "objects are applied in the order of their kinds, not of Argo CD's waves; wave 1: apps/Deployment/app/web"),
	})
	ContentDependsOnCluster = row(Rule{
		Name: "content-depends-on-cluster", Level: Notice, Title: "depends on the cluster",
		Why:     "The same chart renders different objects on another cluster, so an approval of the content is valid for this cluster only.",
		Reduce:  "Set what the chart asks for with --kube-version and --api-versions.",
		Looks:   "Charts that ask for the cluster's version, its APIs or its objects (.Capabilities, lookup).",
		Example: noteExample("package/mongodb", "its objects depend on what the cluster is or holds"),
	})
	ObjectsByChance = row(Rule{
		Name: "objects-by-chance", Level: NotKnown, Title: mayMakeMore,
		Why:    "What the package renders depends on a clock or a random source: at another time, or with another random value, it renders objects that are not in this review.",
		Reduce: "Set values that replace the clock and the random source, or do not install the package.",
		Looks:  "Whether a second rendering of the same content, 400 days later and with other random values, makes further objects; and whether templates read a clock, a random number or a random order, and nothing that they render shows the result.",
		Text:   "only a second rendering makes this object: whether it exists comes from a clock or a random source",
	}.example("rbac.authorization.k8s.io/ClusterRoleBinding/-/op"))
	ObjectsByLookup = row(Rule{
		Name: "objects-by-lookup", Level: NotKnown, Title: mayMakeMore,
		Why:    "Templates look up objects in the cluster to decide what to render, and this review had no cluster: with one, the package may render objects that are not in this review.",
		Reduce: "Preview with a connection to the cluster.",
		Looks:  "Template lookups in a review without a cluster. Lookups of the package's own objects are left out, and so are lookups of Secrets and ConfigMaps by name in the release's namespace where the package renders the same objects whether or not they exist.",
		Text:   "its templates look up %s, and no cluster was asked",
	}.example("package/mongodb", "v1/Namespace/-/kube-system"))
	WebhookCertificates = row(Rule{
		Name: "webhook-certificates", Level: Notice, Title: "has webhooks, whose certificates are issued by a provider",
		Why:     "The API server calls a webhook only if it trusts the webhook's certificate. If the certificate is missing or has expired, writes of the objects that the webhook covers fail, or pass unchecked.",
		Reduce:  "Choose another provider with --certs.",
		Looks:   "The certificate provider for a bundle's webhooks: from --certs, from the installed release, or as found in the cluster.",
		Example: noteExample("package/mongodb", CertificateProvider("generated")),
	})
	CertificateMade = row(Rule{
		Name: "certificate-made", Level: Notice, Title: "holds a certificate that was made for this plan",
		Why:    "The keys are random and differ in every plan: the plan can be applied on the review screen, by the command that made it or with --plan, but not with --approve.",
		Text:   "a certificate for the webhooks, made for this plan; it ends on %s, and an upgrade from %s on renews it",
		Reduce: "Apply the saved plan with --plan, or use a provider in the cluster: --certs cert-manager.",
		Looks:  "Certificates and keys of webhooks that were made for the plan, with --certs generated.",
	}.example("core/Secret/app/op-service-cert", "2028-11-23", "2028-03-24"))
	CertificateKept = row(Rule{
		Name: "certificate-kept", Level: Notice, Title: "keeps the certificate that the cluster has",
		Why:   "A certificate is kept until two thirds of its life have passed, so that upgrades do not replace it needlessly.",
		Text:  "the certificate for the webhooks stays as it is; it ends on %s, and an upgrade from %s on renews it",
		Looks: "Certificates and keys of webhooks that an earlier plan made, with --certs generated.",
	}.example("core/Secret/app/op-service-cert", "2028-11-23", "2028-03-24"))
	ManifestReplaced = row(Rule{
		Name: "manifest-replaced", Level: Notice, Title: "is defined twice by the package",
		Why:     "The package defines this object twice, and only one of the two is applied.",
		Reduce:  "Remove one of the two definitions from the package.",
		Looks:   "Objects that a package both ships as a manifest and describes in its ClusterServiceVersion.",
		Example: noteExample("core/ServiceAccount/app/op", "the bundle's own manifest replaces the one made from the CSV"),
	})
	Nondeterministic = row(Rule{
		Name: "nondeterministic", Level: Medium, Title: "holds values from a clock or a random source",
		Why:     "Every rendering gives different values. The plan keeps the values of its own rendering, so it can be applied on the review screen or with --plan, but not with --approve.",
		Reduce:  "Set the value with --set or --values, or apply the saved plan with --plan.",
		Looks:   "Whether a second rendering of the same content gives the same objects, field by field.",
		Example: Example{Of: "Secret op:", Evidence: "core/Secret/app/op: .data.password comes from a clock or a random source: a second rendering gave another value"},
	})
)

const mayMakeMore = "may make objects that are not in this review"

// CertificateProvider says what a provider of certificates means for webhooks.
func CertificateProvider(certs string) string {
	switch certs {
	case "cert-manager":
		return "cert-manager issues the certificates of the webhooks and renews them (--certs cert-manager), as OLM has it; it must be there and stay, and until it has issued them calls fail"
	case "service-ca":
		return "OpenShift's service-ca issues the certificates of the webhooks and renews them (--certs service-ca); until it has, calls fail"
	case "generated":
		return "the certificates of the webhooks are part of this plan and need nothing in the cluster (--certs generated); only an upgrade renews them, and status says when they end"
	}
	return "the webhooks get no certificates (--certs " + certs + "): calls fail until one is put into their Secrets and its authority into their caBundle"
}

// Unrepeatable reports whether a note of a rule says that another rendering gives
// other objects, so that a digest approves only the plan that it was printed with.
func Unrepeatable(rule string) bool {
	return rule == Nondeterministic.Name || rule == CertificateMade.Name || rule == ObjectsByChance.Name
}
