package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/findingtest"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// TestGroups says which findings are one entry of a review.
func TestGroups(t *testing.T) {
	operator := preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "shop", Name: "operator"}
	other := preview.Subject{Kind: preview.SubjectServiceAccount, Namespace: "shop", Name: "other"}
	of := func(severity preview.Severity, rule, object, title string, subjects ...preview.Subject) preview.Finding {
		return findingtest.Worded(preview.Finding{ID: rule + "/" + object, Rule: rule, Severity: severity, Object: object, Title: title, Subjects: subjects})
	}
	const crd = "apiextensions.k8s.io/CustomResourceDefinition/-/widgets.example.com"
	images := func(n int) []preview.Finding {
		var out []preview.Finding
		for i := range n {
			out = append(out, of(preview.Warning, "image-by-tag", fmt.Sprintf("apps/Deployment/shop/web-%d", i), fmt.Sprintf("Deployment web-%d: image by tag", i)))
		}
		return out
	}
	for _, test := range []struct {
		name     string
		findings []preview.Finding
		accounts []preview.Account
		want     []string // LABEL TITLE: rules
	}{
		{"nothing is no group", nil, nil, nil},
		{
			"two permissions of an account are one group, as severe as the worst",
			[]preview.Finding{
				of(preview.Critical, "rbac-secrets-read", "role/a", "ServiceAccount operator: can read Secrets", operator),
				of(preview.Warning, "rbac-services-write", "role/b", "ServiceAccount operator: can write Services", operator),
			},
			[]preview.Account{{Subject: operator, Extent: "every-secret"}},
			[]string{"C1 ServiceAccount operator: can read the Secrets of every namespace: rbac-secrets-read rbac-services-write"},
		},
		{
			"what most operators have comes last among permissions that are as severe",
			[]preview.Finding{
				of(preview.Critical, "rbac-secrets-read", "role/a", "ServiceAccount operator: can read Secrets", operator),
				of(preview.Critical, "rbac-secrets-write", "role/a", "ServiceAccount operator: can write Secrets", operator),
				of(preview.Critical, "rbac-webhooks-write", "role/a", "ServiceAccount operator: can write webhooks", operator),
				of(preview.Warning, "rbac-services-write", "role/b", "ServiceAccount operator: can write Services", operator),
			},
			[]preview.Account{{Subject: operator, Extent: "cluster-admin"}},
			[]string{"C1 ServiceAccount operator: cluster-admin in effect: rbac-webhooks-write rbac-secrets-write rbac-secrets-read rbac-services-write"},
		},
		{
			"an account that comes to little is named by its worst permission",
			[]preview.Finding{
				of(preview.Warning, "rbac-services-write", "role/a", "ServiceAccount operator: can write Services", operator),
				of(preview.Info, "rbac-events-write", "role/a", "ServiceAccount operator: can write Events", operator),
			},
			[]preview.Account{{Subject: operator, Extent: "own-namespace"}},
			[]string{"W1 ServiceAccount operator: can write Services, and 1 more: rbac-services-write rbac-events-write"},
		},
		{
			"two accounts are two groups",
			[]preview.Finding{
				of(preview.Critical, "rbac-secrets-read", "role/a", "ServiceAccount operator: can read Secrets", operator),
				of(preview.Critical, "rbac-secrets-read", "role/b", "ServiceAccount other: can read Secrets", other),
			}, nil,
			[]string{"C1 ServiceAccount operator: can read Secrets: rbac-secrets-read", "C2 ServiceAccount other: can read Secrets: rbac-secrets-read"},
		},
		{
			"what was accepted earlier is not below what is new",
			[]preview.Finding{
				of(preview.Critical, "rbac-secrets-read", "role/a", "ServiceAccount operator: can read Secrets", operator),
				{Rule: "rbac-nodes", Severity: preview.Warning, AcceptedIn: 3, Title: "ServiceAccount operator: can change nodes", Subjects: []preview.Subject{operator}},
			}, nil,
			[]string{"C1 ServiceAccount operator: can read Secrets: rbac-secrets-read", "W1 ServiceAccount operator: can change nodes: rbac-nodes"},
		},
		{
			"what was not judged stays a group of its own",
			[]preview.Finding{
				of(preview.Critical, "rbac-secrets-read", "role/a", "ServiceAccount operator: can read Secrets", operator),
				of(preview.NotKnown, "rbac-not-judged", "role/a", "ServiceAccount operator: can do what is not judged", operator),
			}, nil,
			[]string{"C1 ServiceAccount operator: can read Secrets: rbac-secrets-read", "U1 ServiceAccount operator: can do what is not judged: rbac-not-judged"},
		},
		{
			"rows of one CRD are one group",
			[]preview.Finding{
				of(preview.Warning, "crd-field-removed", crd, "CRD widgets.example.com: a field is removed"),
				of(preview.Warning, "crd-conversion", crd, "CRD widgets.example.com: is converted by a webhook"),
			}, nil,
			[]string{"W1 CRD widgets.example.com: a field is removed, and 1 more: crd-field-removed crd-conversion"},
		},
		{"three findings of one rule stand alone", images(3), nil, []string{
			"W1 Deployment web-0: image by tag: image-by-tag", "W2 Deployment web-1: image by tag: image-by-tag", "W3 Deployment web-2: image by tag: image-by-tag",
		}},
		{"four findings of one rule are one group", images(4), nil, []string{
			"W1 image by tag (4 times): image-by-tag image-by-tag image-by-tag image-by-tag",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, g := range verdict.Groups(test.findings, test.accounts) {
				var names []string
				for _, f := range g.Findings {
					names = append(names, f.Rule)
				}
				got = append(got, g.Label()+" "+g.Title()+": "+strings.Join(names, " "))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("groups\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestEveryFindingIsInOneGroup holds for any findings: none is left out or listed
// twice, and none is more severe than the first of its group.
func TestEveryFindingIsInOneGroup(t *testing.T) {
	severities := []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown, preview.Info}
	for seed := range 200 {
		var findings []preview.Finding
		for i := range seed {
			f := preview.Finding{ID: fmt.Sprint(i), Rule: fmt.Sprintf("rule-%d", i*seed%7), Severity: severities[(i*seed+i)%4], Title: "x: y"}
			if i%3 == 0 {
				f.Subjects = []preview.Subject{{Kind: preview.SubjectServiceAccount, Name: fmt.Sprint(i % 5)}}
			}
			if f.Severity == preview.Warning && i/4%2 == 0 {
				f.AcceptedIn = 1
			}
			findings = append(findings, f)
		}
		seen, labels := map[string]int{}, map[string]bool{}
		for _, g := range verdict.Groups(findings, nil) {
			if labels[g.Label()] {
				t.Fatalf("seed %d: two groups are %s", seed, g.Label())
			}
			labels[g.Label()] = true
			for _, f := range g.Findings {
				seen[f.ID]++
				if f.Severity.Rank() < g.Severity().Rank() {
					t.Fatalf("seed %d: %s hides a finding that is %s", seed, g.Label(), f.Severity)
				}
			}
		}
		for _, f := range findings {
			if seen[f.ID] != 1 {
				t.Fatalf("seed %d: finding %s is in %d groups", seed, f.ID, seen[f.ID])
			}
		}
	}
}
