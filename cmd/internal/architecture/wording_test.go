package architecture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Phrases that a trial with users found hard to read, with what is said in their place.
// No text of the program holds one of them again.
func TestMessagesUseTheWordsOfTheField(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "messages.golden"))
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.ToLower(string(data))
	for phrase, instead := range map[string]string{
		"must look":                                      "Critical - review required",
		"should look":                                    "Warnings",
		"good to know":                                   "Info",
		"looked at one by one":                           "No critical findings",
		"must-look left":                                 "3 critical findings to review",
		"may do everything with an api group":            "full control of API group",
		"acts as somebody else":                          "can impersonate",
		"gives roles to anybody":                         "can bind any role",
		"gets further by acting as":                      "privilege escalation path",
		"takes this account over":                        "an attacker with this account",
		"cut the right of the first step":                "remove the first permission in the chain",
		"obtains tokens of":                              "can create tokens for",
		"writes volume claims":                           "can write or delete PVCs",
		"delete whole collections":                       "can bulk-delete (deletecollection)",
		"writes endpoints of services":                   "can redirect Service traffic",
		"consoles of custom resources":                   "can exec or open consoles",
		"logs and figures of nodes":                      "can read node logs and metrics",
		"asks who may do what":                           "runs SubjectAccessReviews",
		"is in the way of the plan":                      "conflicts with an existing object",
		"somebody else manages":                          "field conflict",
		"ends what its manager does":                     "overriding replaces the value",
		"going back is not safe for what it holds":       "CRD is not rolled back",
		"get,list,watch":                                 "get, list, watch on secrets",
		"* * of ":                                        "all verbs on all resources",
		"what apply would do with it is not known":       "the live object could not be read",
		"nobody resolved it":                             "tag, digest not resolved",
		"on which nodes that runs":                       "digest and platforms were not checked",
		"does not show in the web console":               "console samples are skipped",
		"does not say which actions":                     "required permissions are not declared",
		"in the place of the controller":                 "can sign CSRs itself",
		"driven to a node of choice":                     "evictions can cause downtime",
		"expose what is inside":                          "expose internal workloads",
		"those of the control plane too":                 "including the control plane",
		"the package says so, and -n does not change it": "hard-code namespace; -n does not override it",
		"not in the set any more":                        "(nothing)",
		"told so that you know":                          "Informational",
		"who may list these objects make":                "re-run with permission to list",
		"not well":                                       "not ready",
		"not as applied, and":                            "Drifted",
		"it gives up at":                                 "times out at",
		"rights of yours":                                "checking your permissions",
		"which persist nothing":                          "server-side dry run (no changes)",
		"to do exactly this":                             "Apply this plan",
		"finds what ":                                    "a title",
		"formats of your own":                            "custom formats",
		"no upgrade edges were followed":                 "not from a catalog: upgrade path was not checked",
		"account into a namespace of its own":            "move the stronger account to its own namespace",
		"reaches the kubelet":                            "can call the kubelet API",
		" in no step":                                    "no change",
		": decide with --conflicts.":                     "--conflicts take replaces, --conflicts leave keeps",
		"left open: ":                                    "not checked: objects without a dry run, and why",
		"may do everything":                              "full control of",
		"program that a host":                            "plugin set",
		"child process; seccomp":                         "rendered in a sandbox",
		" besides before":                                "what else",
		" besides;":                                      "too",
	} {
		if at := strings.Index(texts, phrase); at >= 0 {
			t.Errorf("say %q in place of %q, in: %s", instead, phrase, lineAt(string(data), at))
		}
	}
}

func lineAt(text string, at int) string {
	from := strings.LastIndex(text[:at], "\n") + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return line
}
