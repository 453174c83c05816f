package registryv1

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func TestInstallModes(t *testing.T) {
	every := []string{allNamespaces, singleNamespace, ownNamespace, multiNamespace}
	watch := func(namespaces ...string) format.Params { return format.Params{WatchNamespaces: namespaces} }
	flag := func(mode string, namespaces ...string) format.Params {
		return format.Params{InstallMode: mode, WatchNamespaces: namespaces}
	}
	value := func(ns any) format.Params { return format.Params{Values: map[string]any{"watchNamespace": ns}} }
	const own = "demo-system" // the release namespace
	for _, tc := range []struct {
		name      string
		supported []string
		params    format.Params
		mode      string
		targets   string // as olm.targetNamespaces
		err       string
	}{
		{name: "all namespaces by default", supported: every, mode: allNamespaces},
		{name: "the only supported mode by default", supported: []string{ownNamespace}, mode: ownNamespace, targets: own},
		{name: "AllNamespaces wins over another supported mode", supported: []string{ownNamespace, allNamespaces}, mode: allNamespaces},
		{name: "the narrowest among namespaced modes by default", supported: []string{singleNamespace, ownNamespace, multiNamespace}, mode: ownNamespace, targets: own},
		{name: "no default where the user is asked", supported: []string{singleNamespace, ownNamespace}, params: format.Params{ModeAsked: true},
			err: "the install mode is not clear: demo.v1.0.0 supports SingleNamespace, OwnNamespace; choose one with --install-mode"},
		{name: "nothing is asked where all namespaces are the default", supported: every, params: format.Params{ModeAsked: true}, mode: allNamespaces},
		{name: "nothing is asked where the watched namespaces decide", supported: []string{singleNamespace, ownNamespace}, params: format.Params{ModeAsked: true, WatchNamespaces: []string{"a"}}, mode: singleNamespace, targets: "a"},
		{name: "no default among modes that need namespaces", supported: []string{singleNamespace, multiNamespace},
			err: "the install mode is not clear: demo.v1.0.0 supports SingleNamespace, MultiNamespace; choose one with --install-mode"},
		{name: "no supported mode at all", supported: nil,
			err: "the CSV demo.v1.0.0 supports no install mode: spec.installModes declares none as supported"},
		{name: "an unknown mode", supported: every, params: flag("Everywhere"),
			err: `install mode "Everywhere": want one of AllNamespaces, SingleNamespace, OwnNamespace, MultiNamespace`},
		{name: "an unsupported mode", supported: []string{ownNamespace}, params: flag(allNamespaces),
			err: "install mode AllNamespaces is not supported by demo.v1.0.0; it supports OwnNamespace"},

		{name: "AllNamespaces watches no list", supported: every, params: flag(allNamespaces, "a"),
			err: "watchNamespace: must be empty with install mode AllNamespaces, which watches every namespace, and is a"},
		{name: "OwnNamespace watches the release namespace", supported: every, params: flag(ownNamespace), mode: ownNamespace, targets: own},
		{name: "OwnNamespace may be told so", supported: every, params: flag(ownNamespace, own), mode: ownNamespace, targets: own},
		{name: "OwnNamespace watches no other", supported: every, params: flag(ownNamespace, "a"),
			err: "watchNamespace: must be the release namespace demo-system with install mode OwnNamespace, and is a"},
		{name: "SingleNamespace watches one", supported: every, params: flag(singleNamespace, "a"), mode: singleNamespace, targets: "a"},
		{name: "SingleNamespace needs one", supported: every, params: flag(singleNamespace),
			err: "watchNamespace: exactly one is required with install mode SingleNamespace, and 0 are given"},
		{name: "SingleNamespace takes no two", supported: every, params: flag(singleNamespace, "a", "b"),
			err: "watchNamespace: exactly one is required with install mode SingleNamespace, and 2 are given"},
		{name: "SingleNamespace is not the release namespace", supported: every, params: flag(singleNamespace, own),
			err: "watchNamespace: must differ from the release namespace demo-system with install mode SingleNamespace; to watch that one use OwnNamespace"},
		{name: "MultiNamespace watches several, sorted and once", supported: every, params: flag(multiNamespace, "b", "a", "b"), mode: multiNamespace, targets: "a,b"},
		{name: "MultiNamespace needs two", supported: every, params: flag(multiNamespace, "a"),
			err: "watchNamespace: at least two are required with install mode MultiNamespace, and 1 are given"},
		{name: "MultiNamespace may contain the release namespace", supported: every, params: flag(multiNamespace, "a", own), mode: multiNamespace, targets: "a,demo-system"},
		{name: "MultiNamespace with the release namespace needs OwnNamespace too", supported: []string{multiNamespace, allNamespaces}, params: flag(multiNamespace, "a", own),
			err: "watchNamespace: must not contain the release namespace demo-system, because demo.v1.0.0 does not support OwnNamespace"},

		{name: "watched namespaces alone spell out the mode: one", supported: every, params: watch("a"), mode: singleNamespace, targets: "a"},
		{name: "watched namespaces alone spell out the mode: own", supported: every, params: watch(own), mode: ownNamespace, targets: own},
		{name: "watched namespaces alone spell out the mode: several", supported: every, params: watch("a", "b"), mode: multiNamespace, targets: "a,b"},
		{name: "a mode spelt out must be supported", supported: []string{ownNamespace, allNamespaces}, params: watch("a"),
			err: "install mode SingleNamespace is not supported by demo.v1.0.0; it supports AllNamespaces, OwnNamespace"},
		{name: "the only supported mode is not spelt out otherwise", supported: []string{singleNamespace}, params: watch(own),
			err: "watchNamespace: must differ from the release namespace demo-system with install mode SingleNamespace; to watch that one use OwnNamespace"},

		{name: "the value watchNamespace is the flag's other form", supported: every, params: value("a"), mode: singleNamespace, targets: "a"},
		{name: "the value watchNamespace may be null", supported: every, params: value(nil), mode: allNamespaces},
		{name: "the value watchNamespace needs a mode of one namespace", supported: []string{allNamespaces}, params: value("a"),
			err: `values: unknown field "watchNamespace": the bundle supports neither OwnNamespace nor SingleNamespace (it supports AllNamespaces)`},
		{name: "flag and value may agree", supported: every, params: format.Params{WatchNamespaces: []string{"a"}, Values: map[string]any{"watchNamespace": "a"}}, mode: singleNamespace, targets: "a"},
		{name: "flag and value may not differ", supported: every, params: format.Params{WatchNamespaces: []string{"a"}, Values: map[string]any{"watchNamespace": "b"}},
			err: "the value watchNamespace is b, and the flag says a; give one of them"},
		{name: "a watched namespace is a DNS-1123 label", supported: every, params: value("a.b"), err: `watchNamespace: "a.b" is not a DNS-1123 label`},
		{name: "a watched namespace has a name", supported: every, params: value(""), err: `watchNamespace: "" is not a DNS-1123 label`},
		{name: "a watched namespace has at most 63 characters", supported: every, params: watch(strings.Repeat("a", 64)),
			err: `watchNamespace: "` + strings.Repeat("a", 64) + `" is not a DNS-1123 label`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := renderFS(t, makeBundle(t, modes(t, tc.supported...), nil), tc.params)
			if tc.err != "" || err != nil {
				wantError(t, err, tc.err)
				return
			}
			var watched []string
			if tc.targets != "" {
				watched = strings.Split(tc.targets, ",")
			}
			if out.Resolved.InstallMode != tc.mode || !slices.Equal(out.Resolved.WatchNamespaces, watched) {
				t.Errorf("resolved %+v, want %s %q", out.Resolved, tc.mode, watched)
			}
			pod := find(t, out, "apps/Deployment/demo-system/demo")
			annotations := preview.Map(pod, "spec", "template", "metadata", "annotations")
			if got := annotations[targetNamespacesAnnotation]; got != tc.targets {
				t.Errorf("%s is %q, want %q", targetNamespacesAnnotation, got, tc.targets)
			}
			if got := annotations[operatorNamespaceAnnotation]; got != own {
				t.Errorf("%s is %q", operatorNamespaceAnnotation, got)
			}
		})
	}
}

func TestReleaseNamespaceIsALabel(t *testing.T) {
	for _, ns := range []string{"", "A", "a.b", strings.Repeat("a", 64)} {
		in := format.Input{Content: makeBundle(t, nil, nil), Release: preview.Release{Namespace: ns}}
		_, err := New().Render(t.Context(), in)
		wantError(t, err, `the release namespace "`+ns+`" is not a DNS-1123 label`)
	}
}

func TestPermissionsFollowTheInstallMode(t *testing.T) {
	kinds := func(params format.Params) string {
		var list []string
		for _, id := range ids(mustRender(t, makeBundle(t, nil, nil), params)) {
			if group, kind, namespace, _, err := preview.ParseID(id); err == nil && group == rbacGroup {
				list = append(list, strings.TrimPrefix(namespace+"/", "/")+kind)
			}
		}
		return strings.Join(list, " ")
	}
	for _, tc := range []struct {
		name   string
		params format.Params
		want   string
	}{
		{"all namespaces promote permissions after the cluster's own", format.Params{},
			"ClusterRole ClusterRoleBinding ClusterRole ClusterRoleBinding"},
		{"one namespace takes the role", format.Params{WatchNamespaces: []string{"a"}},
			"a/Role a/RoleBinding ClusterRole ClusterRoleBinding"},
		{"each of several namespaces takes the role", format.Params{WatchNamespaces: []string{"b", "a"}},
			"a/Role a/RoleBinding b/Role b/RoleBinding ClusterRole ClusterRoleBinding"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := kinds(tc.params); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
