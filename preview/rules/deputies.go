package rules

// The rules about custom resources, which are orders to whose controller acts on
// them, and about content inside of objects.
var (
	ContentUnread = row(Rule{
		Name: "content-unread", Level: NotKnown, Title: "holds content that was not looked into",
		Why:     "Pods, roles and manifests inside of an object are judged as what they are; these texts are too large, or lie too deep in others, to be decoded.",
		Reduce:  "Take them out of the package, or read them by hand.",
		Looks:   "Texts inside of objects that hold YAML or JSON, beyond 2 MiB each, 16 MiB in a plan, or four texts in each other.",
		Example: Example{Title: "ConfigMap manifests: holds content that was not looked into", Evidence: `core/ConfigMap/app/manifests: data["all.yaml"]`},
	})
)
