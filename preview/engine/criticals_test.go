package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// benign are packages that many clusters run.
var benign = []string{
	"ack-s3-controller/1.10.0", "argocd-operator/0.18.0", "cert-manager-operator/1.20.0", "cert-manager/1.6.2", "grafana-operator/5.22.2",
	"keda/2.17.2", "mongodb-kubernetes/1.10.0", "opentelemetry-operator/0.158.0", "rabbitmq-cluster-operator/2.22.3", "strimzi-kafka-operator/1.0.0",
}

// intruder has the token of a package's account, and nothing else.
type intruder struct {
	admin, client kubernetes.Interface
	objects       dynamic.Interface // the administrator's
	config        *rest.Config      // with the account's token
	subject       preview.Subject
	namespace     string // of the right; empty for all
	evidence      string // of the finding
	network       string // the socket that the API server connects to for the cluster's network
	secret        string // the one Secret that it may read by name; empty for any
}

// TestClusterCriticalFindingsAreTrue carries out what each critical finding of ten
// benign packages says, with the token of the account that it is about, and logs it as
// a sentence; of a webhook, as the one who serves it.
func TestClusterCriticalFindingsAreTrue(t *testing.T) {
	corpus := corpustest.Dir(t, "bundles")
	a := newAuthority(t)
	a.namespace(t, "bank")
	for _, bundle := range benign {
		p, err := offline(t, filepath.Join(corpus, bundle), format.Params{Certs: "none"})
		if err != nil {
			t.Fatalf("%s: %v", bundle, err)
		}
		created := a.create(t, p)
		a.settle(t)
		for _, f := range p.Findings {
			if f.Severity != preview.Critical {
				continue
			}
			if f.Rule == rules.WebhookMutatesPods.Name {
				at := slices.IndexFunc(p.Objects, func(o preview.Object) bool { return o.ID == f.Object })
				did, err := a.serveWebhook(t.Context(), &p.Objects[at])
				if err != nil {
					t.Errorf("%s: %s is not true: %v", bundle, f.ID, err)
				}
				t.Logf("%s: an attacker who serves %s %s", bundle, p.Objects[at].Name, did)
				continue
			}
			in, err := a.intruder(t, p, f)
			if err != nil {
				t.Fatalf("%s: %s: %v", bundle, f.ID, err)
			}
			act := acts()[f.Rule]
			if act == nil {
				t.Errorf("%s: %s: no act shows that it is true: %s", bundle, f.ID, f.Evidence)
				continue
			}
			did, err := act(t.Context(), in)
			if err != nil {
				t.Errorf("%s: %s is not true: %v (%s)", bundle, f.ID, err, f.Evidence)
				continue
			}
			t.Logf("%s: an attacker who has account %s %s", bundle, in.subject.Name, did)
		}
		a.remove(t, created)
	}
}

// intruder acts as the account that a finding is about.
func (a *authority) intruder(t *testing.T, p *preview.Plan, f preview.Finding) (intruder, error) {
	t.Helper()
	at := slices.IndexFunc(p.Access.Grants, func(g preview.Grant) bool {
		return slices.Contains(g.Rules, f.Rule) && strings.Contains(f.Evidence, g.Subject.Namespace+"/"+g.Subject.Name)
	})
	in := intruder{admin: a.client, objects: a.dynamic, network: a.network, evidence: f.Evidence}
	switch {
	case at >= 0:
		in.subject, in.namespace = p.Access.Grants[at].Subject, p.Access.Grants[at].Namespace
	case f.Rule == rules.AccessReach.Name && len(f.Subjects) == 1:
		in.subject = f.Subjects[0]
		for _, g := range p.Access.Grants {
			if g.Subject == in.subject && slices.Contains(g.Resources, "secrets") && len(g.ResourceNames) == 1 {
				in.secret = g.ResourceNames[0]
			}
		}
	default:
		return intruder{}, errors.New("no grant of the plan is of this rule")
	}
	var err error
	in.config, in.client, err = a.actAs(t.Context(), in.subject)
	return in, err
}

// actAs returns a client with a token of a ServiceAccount.
func (a *authority) actAs(ctx context.Context, s preview.Subject) (*rest.Config, kubernetes.Interface, error) {
	token, err := a.client.CoreV1().ServiceAccounts(s.Namespace).CreateToken(ctx, s.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return nil, nil, err
	}
	config := &rest.Config{Host: a.host, TLSClientConfig: a.tls, BearerToken: token.Status.Token, QPS: -1}
	client, err := kubernetes.NewForConfig(config)
	if err == nil {
		_, err = whoAmI(ctx, client)
	}
	return config, client, err
}

// whoAmI returns the user that a client acts as. The API server takes ServiceAccounts
// from a cache: until its watch has the new one, it refuses the tokens of one that was
// deleted and created again. So a request that is refused is repeated.
func whoAmI(ctx context.Context, client kubernetes.Interface) (string, error) {
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		who, err := client.AuthenticationV1().SelfSubjectReviews().Create(wait, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err == nil {
			return who.Status.UserInfo.Username, nil
		}
		if !apierrors.IsUnauthorized(err) {
			return "", err
		}
	}
}

// may asks the API server about a right of the intruder.
func (in intruder) may(ctx context.Context, verb, group, resource, sub string) error {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: in.namespace, Verb: verb, Group: group, Resource: resource, Subresource: sub,
	}}}
	answer, err := in.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err == nil && !answer.Status.Allowed {
		err = fmt.Errorf("%s %s in %q is not permitted", verb, resource, group)
	}
	return err
}

// where is the namespace of a victim.
func (in intruder) where() string {
	if in.namespace != "" {
		return in.namespace
	}
	return "bank"
}

// plant makes a Secret that the intruder has not seen.
func (in intruder) plant(ctx context.Context) (string, error) {
	secret, err := in.admin.CoreV1().Secrets(in.where()).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "vault-"}, StringData: map[string]string{"password": "of the vault"},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return secret.Name, nil
}

// acts are what the rules about rights say, done: each returns what was done, as
// the rest of a sentence about the account.
func acts() map[string]func(context.Context, intruder) (string, error) {
	return map[string]func(context.Context, intruder) (string, error){
		rules.RBACEverything.Name:        becomeAdmin,
		rules.RBACGroupWildcard.Name:     useGroup,
		rules.RBACReadAllResources.Name:  readSecret,
		rules.RBACWriteAllResources.Name: writeSecret,
		rules.RBACSecretsRead.Name:       readSecret,
		rules.RBACSecretsWrite.Name:      writeSecret,
		rules.RBACTokensCreate.Name:      mintToken,
		rules.RBACWorkloadsWrite.Name:    runPod,
		rules.RBACEscalate.Name:          escalate,
		rules.RBACBind.Name:              becomeAdmin,
		rules.RBACImpersonate.Name:       impersonate,
		rules.RBACWebhooksWrite.Name:     interceptPods,
		rules.RBACSignCertificates.Name:  signCertificate,
		rules.RBACInstallersWrite.Name:   orderInstallation,
		rules.RBACNodesProxy.Name:        callKubelet,
		rules.RBACAPIServicesWrite.Name:  answerForGroup,
		rules.RBACAdmissionPolicies.Name: writePolicy,
		rules.RBACSCC.Name:               writeConstraint,
		rules.RBACNamespacesDelete.Name:  deleteNamespace,
		rules.RBACCRDsDelete.Name:        deleteDefinition,
		rules.AccessReach.Name:           followPath,
	}
}

// deleteNamespace deletes a namespace of others, and with it all that is in it.
func deleteNamespace(ctx context.Context, in intruder) (string, error) {
	made, err := in.admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "vault-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return "deletes a namespace of others", in.client.CoreV1().Namespaces().Delete(ctx, made.Name, metav1.DeleteOptions{})
}

// deleteDefinition deletes a CRD of others, and with it all its custom resources.
func deleteDefinition(ctx context.Context, in intruder) (string, error) {
	const crds, name = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "vaults.bank.example.com"
	definition := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + name + `"},"spec":{"group":"bank.example.com",
		"names":{"kind":"Vault","plural":"vaults"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	if err := in.admin.CoreV1().RESTClient().Post().AbsPath(crds).SetHeader("Content-Type", "application/json").Body([]byte(definition)).Do(ctx).Error(); err != nil {
		return "", err
	}
	return "deletes a CRD of others", in.client.CoreV1().RESTClient().Delete().AbsPath(crds, name).Do(ctx).Error()
}

func readSecret(ctx context.Context, in intruder) (string, error) {
	name, err := in.plant(ctx)
	if err != nil {
		return "", err
	}
	var found corev1.Secret
	switch {
	case in.may(ctx, "get", "", "secrets", "") == nil:
		secret, err := in.client.CoreV1().Secrets(in.where()).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		found = *secret
	default:
		list, err := in.client.CoreV1().Secrets(in.where()).List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for _, secret := range list.Items {
			if secret.Name == name {
				found = secret
			}
		}
	}
	if string(found.Data["password"]) != "of the vault" {
		return "", errors.New("the password was not read")
	}
	return "reads the password in a Secret of namespace " + in.where(), nil
}

func writeSecret(ctx context.Context, in intruder) (string, error) {
	name, err := in.plant(ctx)
	if err != nil {
		return "", err
	}
	stolen := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "token-", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}
	if _, err = in.client.CoreV1().Secrets(in.where()).Create(ctx, stolen, metav1.CreateOptions{}); err == nil {
		return "has a token of another ServiceAccount of namespace " + in.where() + " stored in a Secret", nil
	}
	if in.may(ctx, "patch", "", "secrets", "") == nil {
		_, err = in.client.CoreV1().Secrets(in.where()).Patch(ctx, name, "application/merge-patch+json", []byte(`{"stringData":{"password":"of the thief"}}`), metav1.PatchOptions{})
	} else {
		_, err = in.client.CoreV1().Secrets(in.where()).Update(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"password": "of the thief"}}, metav1.UpdateOptions{})
	}
	return "replaces the password in a Secret of namespace " + in.where(), err
}

func mintToken(ctx context.Context, in intruder) (string, error) {
	_, err := in.client.CoreV1().ServiceAccounts(in.where()).CreateToken(ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	return "mints a token of another ServiceAccount of namespace " + in.where(), err
}

// becomeAdmin binds the account to cluster-admin, and checks that it has become it.
func becomeAdmin(ctx context.Context, in intruder) (string, error) {
	if in.may(ctx, "create", rbacv1.GroupName, "clusterrolebindings", "") != nil {
		if err := in.may(ctx, "create", rbacv1.GroupName, "rolebindings", ""); err != nil {
			return "", err
		}
		_, err := in.client.RbacV1().RoleBindings("bank").Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "intruder-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: in.subject.Namespace, Name: in.subject.Name}},
		}, metav1.CreateOptions{})
		return "makes itself the administrator of namespace bank", err
	}
	binding, err := in.client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "intruder-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: in.subject.Namespace, Name: in.subject.Name}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	defer func() { _ = in.admin.RbacV1().ClusterRoleBindings().Delete(ctx, binding.Name, metav1.DeleteOptions{}) }()
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for in.may(wait, "*", "*", "*", "") != nil {
		if wait.Err() != nil {
			return "", errors.New("it is bound to cluster-admin and is not it")
		}
	}
	return "makes itself cluster-admin", nil
}

// escalate writes a role with rights that the account does not hold.
func escalate(ctx context.Context, in intruder) (string, error) {
	everything := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	if in.may(ctx, "create", rbacv1.GroupName, "clusterroles", "") == nil {
		role, err := in.client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "intruder-"}, Rules: everything}, metav1.CreateOptions{})
		if err == nil {
			_ = in.admin.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{})
		}
		return "writes a ClusterRole that may do everything", err
	}
	role, err := in.admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "victim-"}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	role.Rules = everything
	_, err = in.client.RbacV1().ClusterRoles().Update(ctx, role, metav1.UpdateOptions{})
	_ = in.admin.RbacV1().ClusterRoles().Delete(ctx, role.Name, metav1.DeleteOptions{})
	return "writes everything into a ClusterRole that exists", err
}

func impersonate(ctx context.Context, in intruder) (string, error) {
	name, err := in.plant(ctx)
	if err != nil {
		return "", err
	}
	tries := []struct {
		resource string
		as       rest.ImpersonationConfig
		text     string
	}{
		{"groups", rest.ImpersonationConfig{UserName: "system:serviceaccount:" + in.subject.Namespace + ":" + in.subject.Name, Groups: []string{"system:masters"}}, "acts as group system:masters"},
		{"users", rest.ImpersonationConfig{UserName: "system:admin"}, "acts as user system:admin"},
		{"serviceaccounts", rest.ImpersonationConfig{UserName: "system:serviceaccount:kube-system:generic-garbage-collector"}, "acts as ServiceAccounts of kube-system"},
	}
	for _, try := range tries {
		if in.may(ctx, "impersonate", "", try.resource, "") != nil {
			continue
		}
		config := rest.CopyConfig(in.config)
		config.Impersonate = try.as
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return "", err
		}
		who, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			continue
		}
		return try.text + " (" + who.Status.UserInfo.Username + ")", nil
	}
	return "", fmt.Errorf("it could act as none, to read %s", name)
}

// callKubelet asks: none of the packages may do it. In package access, a test of a step
// carries it out.
func callKubelet(ctx context.Context, in intruder) (string, error) {
	for _, verb := range []string{"get", "create"} {
		if in.may(ctx, verb, "", "nodes", "proxy") == nil {
			return "calls the kubelet of every node, by " + verb + " on nodes/proxy", nil
		}
	}
	return "", errors.New("it may not call kubelets")
}

// useGroup does the worst of what control of an API group permits.
func useGroup(ctx context.Context, in intruder) (string, error) {
	switch {
	case in.may(ctx, "bind", rbacv1.GroupName, "clusterroles", "") == nil:
		return becomeAdmin(ctx, in)
	case in.may(ctx, "create", "", "serviceaccounts", "token") == nil:
		return mintToken(ctx, in)
	}
	return runPod(ctx, in)
}

// writePolicy asks: none of the packages may do it. In package access, a test of a step
// carries it out.
func writePolicy(ctx context.Context, in intruder) (string, error) {
	for _, resource := range []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"} {
		for _, verb := range []string{"create", "update", "patch"} {
			if in.may(ctx, verb, admissionv1.GroupName, resource, "") == nil {
				return "changes what others write, by " + verb + " on " + resource, nil
			}
		}
	}
	return "", errors.New("it may write no policy that changes requests")
}

// followPath takes the first step of an escalation path: it becomes the account that the
// step names.
func followPath(ctx context.Context, in intruder) (string, error) {
	step, _, _ := strings.Cut(in.evidence, ", which ")
	_, victim, _ := strings.Cut(step, "ServiceAccount ")
	namespace, name, named := strings.Cut(victim, "/")
	switch {
	case named && strings.Contains(step, "creates and reads a Secret"):
		return "becomes ServiceAccount " + victim + " by a token that it has stored in a Secret", in.storeToken(ctx, namespace, name)
	case named && strings.Contains(step, "changes images of pods"):
		return "runs its own program in a pod of ServiceAccount " + victim, in.changeImage(ctx, namespace, name)
	}
	return "", fmt.Errorf("no act shows that this step is true: %s", step)
}

// storeToken has a token of an account stored in a Secret, and acts by it.
func (in intruder) storeToken(ctx context.Context, namespace, name string) error {
	secret, err := in.client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: in.secret, GenerateName: "token-", Annotations: map[string]string{corev1.ServiceAccountNameKey: name}},
		Type:       corev1.SecretTypeServiceAccountToken,
	}, metav1.CreateOptions{})
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for err == nil && len(secret.Data["token"]) == 0 {
		secret, err = in.client.CoreV1().Secrets(namespace).Get(wait, secret.Name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	config := rest.CopyConfig(in.config)
	config.BearerToken = string(secret.Data["token"])
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	who, err := whoAmI(ctx, client)
	if err == nil && who != "system:serviceaccount:"+namespace+":"+name {
		err = fmt.Errorf("the token is that of %s", who)
	}
	return err
}

// changeImage gives a pod that runs as an account another program.
func (in intruder) changeImage(ctx context.Context, namespace, name string) error {
	pod, err := in.admin.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "victim-"},
		Spec:       corev1.PodSpec{ServiceAccountName: name, Containers: []corev1.Container{{Name: "c", Image: "example.com/victim"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod, err = in.client.CoreV1().Pods(namespace).Patch(ctx, pod.Name, "application/strategic-merge-patch+json",
		[]byte(`{"spec":{"containers":[{"name":"c","image":"example.com/thief"}]}}`), metav1.PatchOptions{})
	if err == nil && pod.Spec.Containers[0].Image != "example.com/thief" {
		err = errors.New("the pod has its image still")
	}
	return err
}
