package words

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// StepKey names a kind of step of escalation paths, and has its words: %K is the kind, %C the
// name of an object, %N the namespace, %A the account, user or group.
type StepKey struct{ Name, format string }

// stepKeys has every key of steps by its name. It is complete once the package is initialized, and
// never modified afterwards.
var stepKeys = map[string]StepKey{}

func stepKey(name, format string) StepKey {
	if _, twice := stepKeys[name]; twice {
		panic("two keys of steps are named " + name)
	}
	k := StepKey{name, format}
	stepKeys[name] = k
	return k
}

// The steps of escalation paths, each with its words once.
var (
	StepCanDoEverything           = stepKey("can-do-everything", "can do everything")
	StepRunsWorkload              = stepKey("runs-workload", "runs %K in namespace %N as %A")
	StepActsAs                    = stepKey("acts-as", "acts as %A")
	StepApprovesClientCertificate = stepKey("approves-client-certificate", "approves a client certificate of its own for any user")
	StepChangesObjectsByWebhook   = stepKey("changes-objects-by-webhook", "changes every object on its way into the cluster by a webhook")
	StepChangesObjectsByPolicy    = stepKey("changes-objects-by-policy",
		"changes every object on its way into the cluster by an admission policy")
	StepReceivesSecretsByWebhook = stepKey("receives-secrets-by-webhook", "receives every Secret that is written, by a webhook")
	StepServesAPIGroup           = stepKey("serves-api-group", "serves an API group of the cluster, such as that of roles, itself")
	StepConvertsCustomResources  = stepKey("converts-custom-resources",
		"has every custom resource rewritten by a server of its own (conversion), "+
			"orders to controllers with all rights among them")
	StepReadsEverySecret             = stepKey("reads-every-secret", "reads every Secret")
	StepReachesKubelets              = stepKey("reaches-kubelets", "reaches every kubelet")
	StepJoinsAsNode                  = stepKey("joins-as-node", "joins the cluster as a node")
	StepApprovesNodeCertificate      = stepKey("approves-node-certificate", "approves a certificate of its own for any node")
	StepImpersonatesNodes            = stepKey("impersonates-nodes", "impersonates nodes")
	StepObtainsToken                 = stepKey("obtains-token", "obtains a token of %A")
	StepImpersonates                 = stepKey("impersonates", "impersonates %A")
	StepCreatesTokenSecret           = stepKey("creates-token-secret", "creates and reads a Secret in namespace %N with a token of %A")
	StepRunsCommandsInSystemPods     = stepKey("runs-commands-in-system-pods", "runs commands in privileged pods of namespace kube-system")
	StepRunsCommandsInPrivilegedPods = stepKey("runs-commands-in-privileged-pods", "runs commands in privileged pods of namespace %N")
	StepRunsPrivilegedPods           = stepKey("runs-privileged-pods", "runs privileged pods")
	StepRemovesPodSecurityLevel      = stepKey("removes-pod-security-level",
		"removes the Pod Security level of namespace %N and runs privileged pods there")
	StepMountsNodeDirectories = stepKey("mounts-node-directories", "mounts directories of nodes as persistent volumes")
	StepJoinsNodesByToken     = stepKey("joins-nodes-by-token", "joins nodes with a bootstrap token")
	StepRunsCommandsInPods    = stepKey("runs-commands-in-pods", "runs commands in pods of namespace %N, such as those of %A")
	StepAttachesToPods        = stepKey("attaches-to-pods", "attaches to pods of namespace %N, such as those of %A")
	StepAddsContainersToPods  = stepKey("adds-containers-to-pods", "adds containers to pods of namespace %N, such as those of %A")
	StepChangesImagesOfPods   = stepKey("changes-images-of-pods", "changes images of pods of namespace %N, such as those of %A")
	StepChangesScript         = stepKey("changes-script", "changes ConfigMap %C of namespace %N, whose content runs as %A")
	StepGivesAnyRight         = stepKey("gives-any-right", "gives itself any right")
	StepWritesRole            = stepKey("writes-role", "writes any right into %K %C, which it is bound to")
	StepWritesCollectedRole   = stepKey("writes-collected-role",
		"writes any right into ClusterRoles that are added to ClusterRole %C, which it is bound to")
	StepGivesRole       = stepKey("gives-role", "gives itself %K %C")
	StepGivesRoleIn     = stepKey("gives-role-in", "gives itself %K %C in namespace %N")
	StepReadsToken      = stepKey("reads-token", "reads a token of %A in Secret %C of namespace %N")
	StepTurnsIntoToken  = stepKey("turns-into-token", "turns Secret %C of namespace %N into a token of %A")
	StepGivesAnyRightIn = stepKey("gives-any-right-in", "gives itself any right in namespace %N")
	StepUsesTokenOnNode = stepKey("uses-token-on-node", "uses the token of %A on its node")
)

// Step returns a step in words. For a key that this version of the program does not know, it
// returns the key.
func Step(s preview.Step) string {
	k, known := stepKeys[s.Key]
	if !known {
		return s.Key
	}
	format := k.format
	if s.Namespace == "" {
		format = strings.Replace(format, "namespace %N", "any namespace", 1)
	}
	return fill(format, func(verb byte) string {
		switch {
		case verb == 'K':
			return s.Kind
		case verb == 'C':
			return s.Name
		case verb == 'N':
			return s.Namespace
		case verb == 'A' && s.Account != nil:
			return actsAs(*s.Account)
		}
		return ""
	})
}

// actsAs returns who a step acts as.
func actsAs(s preview.Subject) string {
	switch {
	case s.Kind == preview.SubjectServiceAccount:
		return "ServiceAccount " + s.Namespace + "/" + s.Name
	case s.Kind == preview.SubjectGroup && s.Name == "":
		return "a member of any group"
	case s.Kind == preview.SubjectGroup:
		return "a member of group " + s.Name
	case s.Name == "":
		return "any user"
	}
	return "user " + s.Name
}
