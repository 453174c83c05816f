package risk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/content"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/orders"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/wellknown"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// podIdentityRules returns the rules about the accounts, users and groups that pods run
// as.
func podIdentityRules() []entry {
	return []entry{
		{Rule: rules.PodForeignAccount, object: facts(foreignAccount)},
		{Rule: rules.PodGroups, object: containerMatch(nodeGroups)},
		{Rule: rules.PodWindowsAccount, object: containerMatch(windowsAccount)},
		{Rule: rules.PodLongToken, object: podMatch(longTokens)},
		{Rule: rules.PodSharesProcesses, object: podMatch(flags("shareProcessNamespace"))},
	}
}

// adminAccounts returns names of ServiceAccounts in kube-system that amount to control
// of the cluster: those of built-in controllers that read Secrets, make pods or change
// every object (plugin/pkg/auth/authorizer/rbac/bootstrappolicy of Kubernetes), and
// some that installers bind to cluster-admin.
func adminAccounts() []string {
	return []string{
		"certificate-controller", "cloud-controller-manager", "cloud-node-lifecycle-controller", "clusterrole-aggregation-controller", "cronjob-controller",
		"daemon-set-controller", "deployment-controller", "expand-controller", "ephemeral-volume-controller", "generic-garbage-collector", "job-controller",
		"legacy-service-account-token-cleaner", "namespace-controller", "node-controller", "persistent-volume-binder", "replicaset-controller",
		"replication-controller", "resourcequota-controller", "service-account-controller", "statefulset-controller", "storage-version-migrator-controller",
		"token-cleaner", "bootstrap-signer", "kube-controller-manager", "validatingadmissionpolicy-status-controller", "root-ca-cert-publisher",
		"tiller", "admin", "cluster-admin", "admin-user", "kubernetes-dashboard", "helm", "helm-controller",
	}
}

// foreignAccount matches pods that run as a ServiceAccount which is neither the plan's
// nor default: the pod has that account's rights.
func foreignAccount(c *scan, o *preview.Object) (Level, []preview.Seen) {
	pod, _ := preview.PodTemplate(o.Planned)
	if pod == nil {
		return c.namesAccount(o)
	}
	name := preview.PodAccount(pod)
	if name == "" || name == "default" || c.accounts[o.Namespace+"/"+name] {
		return None, nil
	}
	account := preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: o.Namespace, Name: name}
	runs := words.RunsAs.Of(o.Namespace, preview.EvidenceName(name))
	known, found := wellknown.FindAccount(o.Namespace, name)
	switch {
	case len(c.gains.powers.Rules(account)) > 0:
		return Critical, []preview.Seen{words.With(runs, words.AccountCan.Of(strings.Join(c.gains.powers.Rules(account), ", ")))}
	case o.Namespace == kubeSystem && slices.Contains(adminAccounts(), name):
		return Critical, []preview.Seen{words.With(runs, words.OfTheControlPlane.Of())}
	case found:
		return Critical, []preview.Seen{words.With(runs, words.AccountDoes.Of(known.Can))}
	case slices.Contains(sharedNamespaces, o.Namespace):
		return High, []preview.Seen{runs}
	}
	return Medium, []preview.Seen{runs}
}

// namesAccount matches custom resources whose content names a ServiceAccount of their
// namespace that is none of the plan and amounts to control of the cluster: their
// controllers run pods as it, or act as it.
func (c *scan) namesAccount(o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || o.Namespace == "" || content.BuiltIn(o.Planned) {
		return None, nil
	}
	var lines []preview.Seen
	for _, name := range orders.Accounts(o.Planned["spec"]) {
		known, found := wellknown.FindAccount(o.Namespace, name)
		if !found || c.accounts[o.Namespace+"/"+name] {
			continue
		}
		lines = append(lines, words.NamesServiceAccountWhich.Of(o.Namespace, preview.EvidenceName(name), known.Can))
	}
	return Critical, lines
}

// hostGroups are the ids of groups that own files and devices of the node on most Linux
// systems, such as disk, with their names.
var hostGroups = map[int64]string{0: "root", 4: "adm", 6: "disk", 9: "kmem", 15: "kmem", 42: "shadow"}

// nodeGroups matches containers that run in one of hostGroups, by supplementalGroups,
// fsGroup or runAsGroup.
func nodeGroups(pod, container map[string]any) (Level, []preview.Seen) {
	level, lines := None, []preview.Seen(nil)
	joins := func(field string, v any, root Level) {
		id, ok := v.(int64)
		if !ok || hostGroups[id] == "" {
			return
		}
		at := Medium
		if id == 0 {
			at = root
		}
		level, lines = max(level, at), append(lines, words.GroupOnNode.Of(field, strconv.FormatInt(id, 10), hostGroups[id]))
	}
	for _, item := range preview.List(pod, "securityContext", "supplementalGroups") {
		joins("supplementalGroups", item, Medium)
	}
	joins("fsGroup", preview.Value(pod, "securityContext", "fsGroup"), Low)
	joins("runAsGroup", securitySetting(pod, container, "runAsGroup"), Low)
	return level, lines
}

// windowsAccount matches Windows containers that run as a group managed service account
// (gMSA) or as an administrative user.
func windowsAccount(pod, container map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	if name, _ := securitySetting(pod, container, "windowsOptions", "gmsaCredentialSpecName").(string); name != "" {
		lines = append(lines, words.GmsaCredentialSpecName.Of(preview.EvidenceName(name)))
	}
	if spec, _ := securitySetting(pod, container, "windowsOptions", "gmsaCredentialSpec").(string); spec != "" {
		lines = append(lines, words.AGmsaCredentialSpecOfItsOwn.Of())
	}
	user, _ := securitySetting(pod, container, "windowsOptions", "runAsUserName").(string)
	_, short, found := strings.Cut(user, `\`)
	if !found {
		short = user
	}
	if slices.Contains([]string{"containeradministrator", "administrator", "system", "local service", "network service"}, strings.ToLower(short)) {
		lines = append(lines, words.RunAsUserName.Of(preview.EvidenceName(user)))
	}
	return None, lines
}

// longestToken is the longest validity of a projected token, in seconds, that is not
// reported: a week.
const longestToken = 7 * 24 * 60 * 60

func longTokens(pod map[string]any) (Level, []preview.Seen) {
	var lines []preview.Seen
	for _, volume := range preview.Maps(pod, "volumes") {
		for _, source := range preview.Maps(volume, "projected", "sources") {
			if seconds, _ := preview.Value(source, "serviceAccountToken", "expirationSeconds").(int64); seconds > longestToken {
				lines = append(lines, words.ATokenForDays.Of(strconv.FormatInt(seconds/(24*60*60), 10)))
			}
		}
	}
	return None, lines
}
