package wellknown

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestEachLineOfTheTableIsARow(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(objectData) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 5 || levels[f[3]] == rules.None || f[4] == "" || f[1] == "" {
			t.Fatalf("not a row: %q", line)
		}
		if key := strings.Join(f[:3], "/"); seen[key] {
			t.Errorf("twice: %s", key)
		} else {
			seen[key] = true
		}
		if strings.Contains(strings.Trim(f[2], "*"), "*") {
			t.Errorf("a star in the middle: %q", f[2])
		}
	}
}

func TestFind(t *testing.T) {
	for id, want := range map[string]rules.Level{
		"core/ConfigMap/kube-system/aws-auth":                     rules.Critical,
		"core/ConfigMap/app/aws-auth":                             rules.None,
		"core/ConfigMap/gitops/argocd-rbac-cm":                    rules.Critical,
		"core/Secret/kube-system/aws-auth":                        rules.None,
		"example.com/ConfigMap/kube-system/aws-auth":              rules.None,
		"core/ConfigMap/app/kube-root-ca.crt":                     rules.Critical,
		"core/Namespace/-/kube-system":                            rules.High,
		"core/Service/default/kubernetes":                         rules.Critical,
		"core/Service/app/kubernetes":                             rules.None,
		"core/Secret/kube-system/bootstrap-token-abcdef":          rules.Critical,
		"apps/DaemonSet/kube-system/kube-proxy":                   rules.Critical,
		"config.openshift.io/OAuth/-/cluster":                     rules.Critical,
		"scheduling.k8s.io/PriorityClass/-/system-node-critical":  rules.High,
		"coordination.k8s.io/Lease/kube-system/my-own-controller": rules.None,
	} {
		group, kind, namespace, name, err := preview.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		version := "v1"
		if group != "" {
			version = group + "/v1"
		}
		found, _ := Find(preview.Ref{APIVersion: version, Kind: kind, Namespace: namespace, Name: name})
		if found.Level != want {
			t.Errorf("%s: level %d, want %d", id, found.Level, want)
		}
	}
}

func TestEachLineOfTheAccountsIsARow(t *testing.T) {
	seen, lines := map[string]bool{}, 0
	for line := range strings.Lines(accountData) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != accountColumns || f[0] == "" || f[1] == "" || !strings.HasSuffix(f[2], ")") || !strings.HasPrefix(f[3], "https://") {
			t.Fatalf("not a row: %q", line)
		}
		if seen[f[0]+"/"+f[1]] || strings.Contains(strings.Trim(f[1], "*"), "*") {
			t.Errorf("twice, or a star in the middle: %q", line)
		}
		seen[f[0]+"/"+f[1]] = true
	}
	if lines != len(Accounts()) {
		t.Errorf("%d rows of %d lines", len(Accounts()), lines)
	}
}

func TestFindAccount(t *testing.T) {
	for name, want := range map[string]bool{
		"flux-system/kustomize-controller": true,
		"app/kustomize-controller":         false,
		"/kustomize-controller":            true, // in every namespace, this one among them
		"cattle-fleet-system/fleet-agent":  true,
		"argocd/argocd-notifications":      false,
	} {
		namespace, account, _ := strings.Cut(name, "/")
		if found, ok := FindAccount(namespace, account); ok != want || ok && found.Can == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
