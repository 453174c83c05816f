package registryv1

import (
	"strings"
	"testing"
)

var leaderElection = []rule{
	{Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
	{Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
	{Verbs: []string{"create", "patch"}, APIGroups: []string{""}, Resources: []string{"events"}},
}

func TestRoleNamesAreThoseOfUpstream(t *testing.T) {
	argo := permission{ServiceAccountName: "argocd-operator-controller-manager", Rules: leaderElection}
	hook := permission{ServiceAccountName: "webhook-operator-controller-manager", Rules: leaderElection}
	for _, tc := range []struct {
		name, csv string
		perm      permission
		want      string
	}{
		{"a namespaced permission", "argocd-operator.v0.6.0", argo, "argocd-operator.v0-22gmilmgp91wu25is5i2ec598hni8owq3l71bbkl7iz3"},
		{"a promoted permission with a suffix of 43 characters", "argocd-operator.v0.6.0", promote(argo), "argocd-operator.v0.-3gkm3u8zfarktdile5wekso69zs9bgzb988mhjm0y6p"},
		{"a promoted permission of another account", "webhook-operator.v0.0.5", promote(hook), "webhook-operator.v-1zfvwth88plw3th2midra1jqduroo1q7omiagjujsiu3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := roleName(tc.csv, tc.perm)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestPromoteLeavesThePermissionAsItWas(t *testing.T) {
	rules := make([]rule, 1, 4)
	p := permission{Rules: rules}
	if got := promote(p); len(got.Rules) != 2 || len(p.Rules) != 1 || rules[:2][1].Verbs != nil {
		t.Errorf("promote changed its argument: %+v", rules[:2])
	}
}

func TestSuffixTellsAbsentRulesFromNone(t *testing.T) {
	absent, err := suffix(permission{})
	if err != nil {
		t.Fatal(err)
	}
	none, err := suffix(permission{Rules: []rule{}})
	if err != nil {
		t.Fatal(err)
	}
	if absent == none {
		t.Error("null and [] must hash differently")
	}
}

func TestJoinCutsTheBase(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tc := range []struct {
		name, base, suffix string
		want               string
	}{
		{"short names are joined whole", "demo", "service", "demo-service"},
		{"62 characters fit with their dash", x(55), "service", x(55) + "-service"},
		{"63 characters make 64, as upstream", x(56), "service", x(56) + "-service"},
		{"64 characters are cut to 63", x(57), "service", x(55) + "-service"},
		{"a cut may leave a dot at the end", x(54) + "." + x(10), "service", x(54) + ".-service"},
		{"a suffix longer than the limit leaves no base", "demo", x(70), "-" + x(70)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := join(tc.base, tc.suffix); got != tc.want {
				t.Errorf("got %q (%d), want %q", got, len(got), tc.want)
			}
		})
	}
}

func TestWebhookNamesFollowTheDeployment(t *testing.T) {
	const deployment = "webhook.operator-controller-manager"
	for _, tc := range []struct{ got, want string }{
		{serviceName(deployment), "webhook-operator-controller-manager-service"},
		{certName(deployment), "webhook-operator-controller-manager-service-cert"},
		// 48 + 17 characters: the base is cut.
		{issuerName(deployment), "webhook-operator-controller-manager-service-c-selfsigned-issuer"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %s, want %s", tc.got, tc.want)
		}
	}
}
