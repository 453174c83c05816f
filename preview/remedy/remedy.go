// Package remedy says what to do about what keeps a plan from being applied: a row for
// each cause, with complete commands.
package remedy

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// Cause is why an object cannot be written as planned.
type Cause int

// The causes.
const (
	// Deleting is that the live object is being deleted.
	Deleting Cause = iota
	// OtherRelease is that another release has the object.
	OtherRelease
	// OtherDefinition is that another release has the CRD in another form.
	OtherDefinition
	// ChangedDefinition is that the live CRD is not as the other release left it.
	ChangedDefinition
	// HiddenRelease is that the record of the release which has the object may not be read.
	HiddenRelease
	// HiddenOwner is that an object which may own it may not be read.
	HiddenOwner
	// Controller is that an object of another tool installs it.
	Controller
	// OwnerReference is that the garbage collector deletes it with its owner.
	OwnerReference
	// ApplySet is that it is in the ApplySet of another tool.
	ApplySet
	// OtherTool is that another tool has marked it as its own.
	OtherTool
	// Irreplaceable is that an immutable field changes, and the object holds data.
	Irreplaceable
	// Unowned is that it exists and is not part of the release, OfHelm that a Helm release
	// has it.
	Unowned
	OfHelm
	// Contested is that another field manager has set a field.
	Contested
	// NotServed is that the cluster does not serve its kind.
	NotServed
	// OtherVersion is that it exists, and the cluster serves its kind in another API version
	// than the content has.
	OtherVersion
	// Unreadable is that its CRD serves no version, so that it may exist.
	Unreadable
	// Misfit is that it does not fit the schema of its kind.
	Misfit
	// Invalid is that the API server refuses its values.
	Invalid
	// NoNamespace is that its namespace does not exist, and the plan does not create it.
	NoNamespace
	// OverQuota is that a ResourceQuota is used up.
	OverQuota
	// DeniedByPolicy and DeniedByWebhook are that admission of the cluster denied its dry run.
	DeniedByPolicy
	DeniedByWebhook
	// RefusedByPolicy is that an admission policy of the cluster refuses it.
	RefusedByPolicy
	// ApplierRefuses is that the tool which applies the plan does not take an existing object
	// over, and ApplierFails that it fails before it writes any.
	ApplierRefuses
	ApplierFails
	// UnknownAction is that a newer version of the program made the plan.
	UnknownAction

	causes // their number
)

// Case is one object of a plan that cannot be written, and who has it.
type Case struct {
	Plan    *preview.Plan
	Object  *preview.Object // nil for one that was not read
	ID      string
	Release preview.Release // that has it, for causes about releases
	Owner   preview.Ref     // that has it, for Controller and OwnerReference
	Set     string          // the id of an ApplySet
	Hidden  string          // what may not be read
	Quota   string          // the name of the ResourceQuota that is used up
	Policy  string          // KIND NAME of the admission policy that refuses it
	Served  string          // its API version in the cluster
	// Definition is the name of the CRD of the plan that defines the object's kind.
	Definition string
}

// Obstacle returns the obstacle of a cause, which words follow the object's name.
func Obstacle(cause Cause, words string, c Case) preview.Obstacle {
	out := preview.Obstacle{Object: c.ID, Cause: words}
	out.Remedy, out.Flags = rows[cause](c)
	return out
}

// row returns what to do, in words, and the flags of another plan that has no such
// obstacle.
type row func(Case) (words string, flags []string)

var rows = [causes]row{
	Deleting: func(c Case) (string, []string) {
		return "wait until it is gone, then preview again: " + c.kubectl("kubectl wait --for=delete "+kubectlTarget(c.Object)+" --timeout=5m"), nil
	},
	OtherRelease: func(c Case) (string, []string) {
		return "uninstall that, or install this one under other names: " + c.about("uninstall"), nil
	},
	OtherDefinition: func(c Case) (string, []string) {
		return "only one that is exactly the same is shared; bring both releases to versions with the same definition: " + c.about("upgrade"), nil
	},
	ChangedDefinition: func(c Case) (string, []string) {
		return c.about("status") + " shows where it differs; apply that release again: " + c.about("upgrade"), nil
	},
	HiddenRelease: func(c Case) (string, []string) {
		return "only a release that may be read can share; get the right to list Secrets, and preview again: " + c.kubectl("kubectl auth can-i list secrets --all-namespaces"), nil
	},
	HiddenOwner: func(c Case) (string, []string) {
		return "get the right to read " + c.Hidden + ", and preview again", nil
	},
	Controller: func(c Case) (string, []string) {
		return owners.ReleaseSteps(c.Object, c.Owner, c.flags()...), []string{adopt}
	},
	OwnerReference: func(c Case) (string, []string) {
		return "delete its owner alone, then plan with --adopt: " + c.kubectl("kubectl delete "+commandline.KubectlArgument(c.Owner)+" --cascade=orphan"), []string{adopt}
	},
	ApplySet: func(c Case) (string, []string) {
		find := c.kubectl("kubectl get secrets,configmaps -A -l " + commandline.ShellWord(preview.LabelSetID+"="+c.Set))
		leave := c.kubectl("kubectl label " + commandline.KubectlArgument(c.Object.Ref()) + " " + preview.LabelPartOf + "-")
		return find + " finds its parent; take it out of that set, then: " + leave, nil
	},
	OtherTool: func(c Case) (string, []string) {
		return "remove it with the tool that made it, or install this one under other names; what marks it: " + c.kubectl("kubectl get "+commandline.KubectlArgument(c.Object.Ref())+" -o yaml --show-managed-fields"), nil
	},
	Irreplaceable: func(c Case) (string, []string) {
		return "save what it holds, delete it and preview again: " + c.kubectl("kubectl delete "+commandline.KubectlArgument(c.Object.Ref())), nil
	},
	ApplierRefuses: func(c Case) (string, []string) {
		return "delete the object, or let the tool take it over; what marks it: " + c.kubectl("kubectl get "+commandline.KubectlArgument(c.Object.Ref())+" -o yaml --show-managed-fields"), nil
	},
	ApplierFails: func(c Case) (string, []string) { return applierFails(c) },
	OfHelm: func(c Case) (string, []string) {
		show := commandline.Add(commandline.Operator("preview", c.Plan.Request.Reference, c.Release.Name, "-n", c.Release.Namespace), c.flags()...)
		if c.Plan.Request.File != "" {
			show = commandline.Add(commandline.Operator("preview", "-f", c.Plan.Request.File), c.flags()...)
		}
		return "upgrade it with helm, which this previews: " + show + "; or plan with --adopt to take it over", []string{adopt}
	},
	Unowned:   func(Case) (string, []string) { return "plan with --adopt to take it over", []string{adopt} },
	Contested: contested,
	NotServed: notServed,
	OtherVersion: func(c Case) (string, []string) {
		to := commandline.Add(commandline.Operator("upgrade", c.Plan.Release.Name, "REF", "-n", c.Plan.Release.Namespace), c.flags()...)
		if c.Plan.Request.Action == preview.RequestRollback {
			return "that revision cannot be applied any more; upgrade to content that has it as " + c.Served + ": " + to, nil
		}
		return "change its apiVersion in the content to " + c.Served + ", as the cluster has it: " + c.kubectl("kubectl get "+commandline.KubectlArgument(c.Object.Ref())+" -o yaml"), nil
	},
	Unreadable: func(c Case) (string, []string) {
		find := c.kubectl("kubectl get crds -o custom-columns='NAME:.metadata.name,VERSIONS:.spec.versions[*].name,SERVED:.spec.versions[*].served'")
		return "serve one of its versions again, or delete the CRD and with it all its objects, then preview again: " + find, nil
	},
	Misfit:  misfit,
	Invalid: invalid,
	NoNamespace: func(c Case) (string, []string) {
		return "create it, then preview again: " + c.kubectl(commandline.Join("kubectl", "create", "namespace", c.Object.Namespace)), nil
	},
	OverQuota: func(c Case) (string, []string) {
		return "raise the quota or free what it counts, then preview again: " +
			c.kubectl(commandline.Join("kubectl", "describe", "resourcequota", c.Quota, "-n", c.Object.Namespace)), nil
	},
	DeniedByPolicy: func(c Case) (string, []string) {
		return "set what it asks for, by --set or in the content, then preview again: " + c.kubectl("kubectl get validatingadmissionpolicybindings -o wide"), nil
	},
	DeniedByWebhook: func(Case) (string, []string) {
		return "set what it asks for, by --set or in the content, then preview again", nil
	},
	RefusedByPolicy: func(c Case) (string, []string) {
		return "set what it asks for, by --set or in the content, or have the policy leave out the namespace: " +
			c.kubectl("kubectl get "+strings.Replace(strings.ToLower(c.Policy), " ", "/", 1)+" -o yaml"), nil
	},
	UnknownAction: func(Case) (string, []string) {
		return "apply it with the version that made it, or preview again with this one", nil
	},
}

const (
	adopt     = "--adopt"
	conflicts = "--conflicts"
)

// flags returns the flags of the command line that choose the cluster; kubectl has them
// by the same names.
func (c Case) flags() []string {
	return commandline.Flags(c.Plan.Request.Flags, commandline.Connection)
}

func (c Case) kubectl(command string) string { return commandline.Add(command, c.flags()...) }

func (c Case) about(verb string) string {
	return commandline.Add(commandline.AboutRelease(c.Release, verb), c.flags()...)
}

// kubectlTarget returns an object as KIND/NAME -n NAMESPACE, as kubectl wait takes it.
func kubectlTarget(o *preview.Object) string {
	kind, rest, _ := strings.Cut(commandline.KubectlArgument(o.Ref()), " ")
	return kind + "/" + rest
}

// contested returns which decisions settle all conflicts of an object. One that puts the
// package's CA in place of the live one is not among them: the server that is called has
// its certificate from that. Where the plan leaves fields of other objects, or has to, the
// decision is about this object alone.
func contested(c Case) (string, []string) {
	decide := func(decided string) []string { return []string{conflicts, decided} }
	if c.Plan.ConflictsOf(c.Object) == preview.ConflictsLeave || contestsCA(c.Plan) {
		decide = func(decided string) []string { return []string{conflicts, c.ID + "=" + decided} }
	}
	take, leave := decide(preview.ConflictsTake), decide(preview.ConflictsLeave)
	leaves := len(c.Object.UnsettledBy(preview.ConflictsLeave)) == 0
	switch {
	case c.Plan.AppliedBy != nil:
		return "have the tool take it over, which " + commandline.Join(take...) + " shows, or settle it there", take
	case c.Object.ContestsCA() && leaves:
		return "plan with " + commandline.Join(leave...) + ": the live caBundle stays", leave
	case c.Object.ContestsCA():
		return "set it there to what the package has, or leave it out of the package, and preview again with " + commandline.Join(leave...) + ": " +
			c.kubectl("kubectl edit "+commandline.KubectlArgument(c.Object.Ref())), nil
	case leaves:
		return "plan with " + commandline.Join(take...) + " to take it over, or " + commandline.Join(leave...) + " to leave it alone", take
	}
	return "plan with " + commandline.Join(take...) + " to take it over, or settle it there", take
}

func contestsCA(p *preview.Plan) bool {
	for i := range p.Objects {
		if p.Objects[i].ContestsCA() {
			return true
		}
	}
	return false
}

// notServed returns what to install so that the cluster serves the kind of an object.
func notServed(c Case) (string, []string) {
	group, kind, _, _, err := preview.ParseID(c.ID)
	switch {
	case err != nil:
		return "install first what brings its CRD", nil
	case group == "cert-manager.io":
		install := commandline.Add(commandline.Operator("install", "chart+https://charts.jetstack.io/cert-manager"), c.flags()...)
		return "install cert-manager first (" + install + "), or plan with --certs generated, which needs nothing in the cluster, or with --certs service-ca on OpenShift", []string{"--certs", preview.CertsGenerated}
	case strings.HasSuffix(group, ".openshift.io"):
		return "the package is for OpenShift: " + kind + " of " + group + " is part of it", nil
	}
	find := commandline.Add(commandline.Operator("search", strings.ToLower(kind)), c.flags()...)
	return "install first what brings the CRD of " + kind + " in " + group + ": " + find, nil
}
