package cli_test

import (
	"net/http"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	brokenChain = `critical finding record-chain-broken/`
	unvouched   = `critical finding record-options/`
)

var (
	upgradeChart  = []string{"upgrade", "NAME", "DIR/chart3"}
	rollbackChart = []string{"rollback", "NAME"}
	removeChart   = []string{"uninstall", "NAME"}
	installChart  = []string{"install", "DIR/chart3", "NAME"}
)

// refusedBy is each action that makes a plan, which the same finding refuses.
func refusedBy(says string) []optionRun {
	return []optionRun{
		{command: upgradeChart, code: 5, says: says}, {command: installChart, code: 5, says: says},
		{command: removeChart, code: 5, says: says},
	}
}

func optionForgeries() []optionForgery {
	return append(valueForgeries(), orderForgeries()...)
}

func valueForgeries() []optionForgery {
	refused := []optionRun{{command: upgradeChart, code: 5, says: unvouched + `|record-not-signed/`}, {command: installChart, code: 5, says: unvouched + `|record-not-signed/`}}
	return []optionForgery{
		{
			name: "forges nothing", without: true, with: true, forge: func(*forgedOptions) {},
			runs: []optionRun{{command: upgradeChart}, {command: rollbackChart}, {command: removeChart}},
		},
		{
			name: "forges nothing, of a release that only its Secrets know", without: true,
			forge: func(f *forgedOptions) {
				f.mustDo(f.admin, http.MethodDelete, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+f.name+"/roles/"+f.recordName(), nil)
			},
			runs: []optionRun{
				{command: upgradeChart, code: 5, says: unvouched},
				{command: append(upgradeChart, "--set", "image=fixed")},
				{command: []string{"upgrade", "NAME", "DIR/chart2"}},
			},
		},
		{name: "forges the image", without: true, with: true, forge: setOption("image", `"evil"`), runs: refused},
		{
			name: "forges a rule", without: true, with: true, runs: refused,
			forge: setOption("extraRules", `[{"apiGroups":["evil"],"resources":["*"],"verbs":["*"]}]`),
		},
		{
			name: "forges the directory", without: true, with: true, runs: refused,
			forge: func(f *forgedOptions) {
				f.options(func(options map[string]any) { options["path"], options["values"] = "other", nil })
			},
		},
		{
			name: "forges the image, and the administrator gives another", without: true, forge: setOption("image", `"evil"`),
			runs: []optionRun{{command: append(upgradeChart, "--set", "image=fixed")}, {command: rollbackChart, code: 5, says: `the values for its record belong to no package of the plan`}},
		},
		{
			name: "forges the image, and the administrator leaves it out", without: true, forge: setOption("image", `"evil"`),
			runs: []optionRun{{command: append(upgradeChart, "--reset-options")}},
		},
		{
			name: "forges an option that changes nothing", without: true, forge: setOption("nothing", `"evil"`),
			runs: []optionRun{{command: append(upgradeChart, "--set", "image=fixed")}},
		},
		{
			name: "forges the options of both records", without: true,
			forge: func(f *forgedOptions) {
				setOption("image", `"evil"`)(f)
				f.edit(f.recordName()+".v1.0", func(record map[string]any) {
					record["options"] = map[string]any{"values": []any{map[string]any{"keys": []any{"image"}, "json": `"evil"`}}}
				})
			},
			runs: refusedBy(brokenChain),
		},
	}
}

func orderForgeries() []optionForgery {
	return []optionForgery{
		{
			name: "puts the first record back, and deletes the later ones", without: true, with: true,
			forge: func(f *forgedOptions) {
				name := f.recordName()
				f.remove(name+".v1.0", name+".v2.1")
				f.putBack("1", name)
			},
			runs: append(refusedBy(brokenChain),
				optionRun{command: append(upgradeChart, "--set", "image=fixed"), approved: true},
				optionRun{command: []string{"history", "NAME"}, code: 1, says: `(?s)\n3 +applied.*does not hold since revision 2`, keyed: `\n3 +applied \(not verified`},
				optionRun{command: upgradeChart, code: 5, says: brokenChain}),
		},
		{
			name: "deletes the newest record", without: true, with: true,
			forge: func(f *forgedOptions) { f.remove(f.recordName()) },
			runs: []optionRun{
				{command: upgradeChart, code: 1, says: `its newest record, Secret .* is gone`},
				{command: installChart, code: 5, says: brokenChain},
				{command: installChart, approved: true},
				{command: []string{"history", "NAME"}, code: 1, says: `(?s)\n3 +applied.*does not hold since revision 2`},
			},
		},
		{
			name: "puts the first record back in place of the newest", without: true, with: true, runs: refusedBy(brokenChain),
			forge: func(f *forgedOptions) { f.putBack("1", f.recordName()) },
		},
		{
			name: "deletes the older record", without: true, with: true, runs: refusedBy(brokenChain),
			forge: func(f *forgedOptions) { f.remove(f.recordName() + ".v1.0") },
		},
		{
			name: "swaps the records", without: true, with: true, runs: refusedBy(brokenChain),
			forge: func(f *forgedOptions) {
				newest, older := f.secret(f.recordName()), f.secret(f.recordName()+".v1.0")
				for _, key := range []string{"record", "signature"} {
					a, b := preview.Map(newest, "data"), preview.Map(older, "data")
					a[key], b[key] = b[key], a[key]
					if a[key] == nil {
						delete(a, key)
						delete(b, key)
					}
				}
				f.put(newest)
				f.put(older)
			},
		},
		{
			name: "renumbers the newest record", without: true, with: true,
			forge: func(f *forgedOptions) {
				f.edit(f.recordName(), func(record map[string]any) { record["revision"] = 9 })
			},
			runs: refusedBy(unvouched + `|record-not-signed/`)[:2], // a removal deletes what is marked, whatever the record says
		},
		{
			name: "copies the record of a release in another namespace", without: true, with: true,
			forge: func(f *forgedOptions) {
				name := f.recordName()
				words := append(f.fill(f.keyArgs("install", "DIR/chart1", "NAME", "--set", "image=evil", "--yes")...), "-n", f.other)
				if code, said := f.run(f.program(f.box.Kubeconfig(), words...)); code != 0 {
					f.find("exit %d\n%s", code, said)
				}
				secret := f.mustDo(f.tenant, http.MethodGet, "/api/v1/namespaces/"+f.other+"/secrets/"+name, nil)
				own := f.secret(name)
				preview.Map(own, "data")["record"] = preview.Map(secret, "data")["record"]
				f.put(own)
			},
			runs: []optionRun{{command: upgradeChart, code: 1, says: `it is the record of release`}},
		},
	}
}
