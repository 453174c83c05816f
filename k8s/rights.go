package k8s

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// nowhere is the name of a namespace that cannot exist and so has no RoleBinding.
// An access review for it returns only the rights of ClusterRoleBindings.
const nowhere = "kubectl-operator.nowhere"

// Plural returns the resource name of a kind, such as "deployments".
func (c *Client) Plural(ctx context.Context, apiVersion, kind string) (string, error) {
	res, err := c.lookup(ctx, apiVersion, kind)
	return res.plural, err
}

// May returns for each right whether the current user has it. One SelfSubjectRulesReview
// answers all that a ClusterRoleBinding gives, and one for each namespace most of the
// others. The rest are asked by an access review, because authorizers other than RBAC
// may permit it.
func (c *Client) May(ctx context.Context, rights []preview.Right) []preview.RightAnswer {
	answers := make([]preview.RightAnswer, len(rights))
	rules := c.ownRules(ctx, rights)
	var group tasks.Group
	group.SetLimit(concurrency)
	asked := map[preview.Right][]int{}
	for i, right := range rights {
		if covered, _ := validation.Covers(rules[right.Namespace], []rbacv1.PolicyRule{policyRule(right)}); covered {
			answers[i].Allowed = true
			continue
		}
		asked[right] = append(asked[right], i)
	}
	for right, at := range asked {
		group.Go(func() error {
			answer := c.may(ctx, right)
			for _, i := range at {
				answers[i] = answer
			}
			return nil
		})
	}
	_ = group.Wait() // each answer carries its own error
	return answers
}

func policyRule(r preview.Right) rbacv1.PolicyRule {
	if r.URL != "" {
		return rbacv1.PolicyRule{Verbs: []string{r.Verb}, NonResourceURLs: []string{r.URL}}
	}
	rule := rbacv1.PolicyRule{Verbs: []string{r.Verb}, APIGroups: []string{r.Group}, Resources: []string{r.Resource}}
	if r.Name != "" {
		rule.ResourceNames = []string{r.Name}
	}
	return rule
}

// ownRules returns the user's RBAC rules, by the namespaces of rights. Cluster-wide
// rules are read first, because it leaves most users nothing to ask for. Where a review
// is refused, the rights that no other gives are asked for one by one.
func (c *Client) ownRules(ctx context.Context, rights []preview.Right) map[string][]rbacv1.PolicyRule {
	if len(rights) == 0 {
		return nil
	}
	everywhere := c.rulesIn(ctx, "")
	rules := map[string][]rbacv1.PolicyRule{}
	ask := map[string]bool{}
	for _, r := range rights {
		rules[r.Namespace] = everywhere
		if covered, _ := validation.Covers(everywhere, []rbacv1.PolicyRule{policyRule(r)}); !covered && r.Namespace != "" {
			ask[r.Namespace] = true
		}
	}
	var mu sync.Mutex
	var group tasks.Group
	group.SetLimit(concurrency)
	for namespace := range ask {
		group.Go(func() error {
			found := c.rulesIn(ctx, namespace)
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				rules[namespace] = found
			}
			return nil
		})
	}
	_ = group.Wait()
	return rules
}

// rightsCache keeps the user's rules, by namespace, and the answers to access reviews
// while plans are made. The zero cache keeps none.
type rightsCache struct {
	mu    sync.Mutex
	plans int // being made
	rules reviews[string, []rbacv1.PolicyRule]
	may   reviews[preview.Right, bool]
}

// begin forgets what was kept for earlier plans.
func (c *rightsCache) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plans++
	c.rules.keep(true)
	c.may.keep(true)
}

func (c *rightsCache) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans--; c.plans == 0 {
		c.rules.keep(false)
		c.may.keep(false)
	}
}

// reviews are what the API server said of a user, by what it was asked.
type reviews[K comparable, T any] struct {
	mu    sync.Mutex
	known map[K]*reviewed[T] // nil while nothing is kept
}

// keep forgets what was kept, and says whether anything is from now on.
func (r *reviews[K, T]) keep(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known = nil; on {
		r.known = map[K]*reviewed[T]{}
	}
}

// get returns what the API server said. It is asked unless that is kept.
func (r *reviews[K, T]) get(about K, ask func() (T, error)) (T, error) {
	r.mu.Lock()
	known := r.known[about]
	if known == nil {
		known = &reviewed[T]{}
		if r.known != nil {
			r.known[about] = known
		}
	}
	r.mu.Unlock()
	return known.get(ask)
}

// reviewed is what one review said, once it could be made.
type reviewed[T any] struct {
	mu   sync.Mutex
	said T
	made bool
}

func (r *reviewed[T]) get(ask func() (T, error)) (T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made {
		return r.said, nil
	}
	said, err := ask()
	if err == nil {
		r.said, r.made = said, true
	}
	return said, err
}

// rulesIn returns the user's rules in a namespace, or in every one if it is empty. While a
// plan is made they are asked for once.
func (c *Client) rulesIn(ctx context.Context, namespace string) []rbacv1.PolicyRule {
	if namespace == "" {
		namespace = nowhere
	}
	rules, _ := c.rights.rules.get(namespace, func() ([]rbacv1.PolicyRule, error) { return c.askRules(ctx, namespace) })
	return rules
}

func (c *Client) askRules(ctx context.Context, namespace string) ([]rbacv1.PolicyRule, error) {
	review := authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	if err := c.review(ctx, "selfsubjectrulesreviews", "SelfSubjectRulesReview", &review, &review.TypeMeta); err != nil {
		return nil, err
	}
	var rules []rbacv1.PolicyRule
	for _, r := range review.Status.ResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
	}
	for _, r := range review.Status.NonResourceRules {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
	}
	return rules, nil
}

// may returns whether the user has a right. While a plan is made it is asked for once.
func (c *Client) may(ctx context.Context, r preview.Right) preview.RightAnswer {
	allowed, err := c.rights.may.get(r, func() (bool, error) { return c.askMay(ctx, r) })
	return preview.RightAnswer{Allowed: allowed, Err: err}
}

func (c *Client) askMay(ctx context.Context, r preview.Right) (bool, error) {
	review := authorizationv1.SelfSubjectAccessReview{}
	if r.URL != "" {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: r.Verb, Path: r.URL}
	} else {
		resource, subresource, _ := strings.Cut(r.Resource, "/")
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Verb: r.Verb, Group: r.Group, Resource: resource, Subresource: subresource, Namespace: r.Namespace, Name: r.Name,
		}
	}
	err := c.review(ctx, "selfsubjectaccessreviews", "SelfSubjectAccessReview", &review, &review.TypeMeta)
	return err == nil && review.Status.Allowed, err
}

// review sends a self-subject review about the current user, which stores nothing, and decodes
// the answer to the value in into. header points to the TypeMeta of that value.
func (c *Client) review(ctx context.Context, resource, kind string, into any, header *metav1.TypeMeta) error {
	*header = metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: kind}
	body, err := json.Marshal(into)
	if err != nil {
		return err
	}
	data, err := c.readRaw(ctx, c.rest.Post().AbsPath("/apis/authorization.k8s.io/v1/"+resource).Body(body))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
