package cli_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// forgery is one thing that a tenant does to the release, and what the
// administrator runs then.
type forgery struct {
	name     string
	shadow   bool // the tenant has a release of the same name with the evil package
	forge    func(f *forged)
	commands [][]string
	says     string // of what is not as it should be, by the review or by the refusal
}

// The words of a review for a record that decides something.
const (
	notVerified = "record-not-verified"
	notBelieved = "but --yes alone does not trust the record that says so"
)

var (
	upgradeThree = []string{"upgrade", "NAME", "DIR/three"}
	upgradeEvil  = []string{"upgrade", "NAME", "DIR/evil"}
	rollingBack  = []string{"rollback", "NAME"}
	uninstalling = []string{"uninstall", "NAME"}
	removing     = []string{"uninstall", "NAME", "--include-namespaces", "--include-crds", "--receipt=DIR/receipt.json"}
	goingBack    = []string{"upgrade", "NAME", "DIR/three", "--on-failure", "rollback"}
)

// forgeries returns the forgeries of each kind: a soak plays every one, the usual run a
// fifth, and at least one.
func forgeries() []forgery {
	var all []forgery
	for _, kind := range [][]forgery{acceptanceForgeries(), contentForgeries(), inventoryForgeries(), stateForgeries(), formForgeries(), objectForgeries()} {
		for i, row := range kind {
			if slowtest.InSample(i, 5) {
				all = append(all, row)
			}
		}
	}
	return all
}

// accepts has the newest record accept every finding that the evil package has.
func (f *forged) accepts() {
	fingerprints := map[string]any{}
	review := f.look(upgradeEvil)
	for _, line := range strings.Split(review.text, "\n") {
		if _, value, found := strings.Cut(line, `"fingerprint": "`); found {
			fingerprints[strings.Trim(value, `",`)] = 1
		}
	}
	f.edit(f.recordName(), func(record map[string]any) { record["accepted"] = fingerprints })
}

func acceptanceForgeries() []forgery {
	return []forgery{
		{
			name: "has the record accept what an upgrade brings", commands: [][]string{upgradeEvil}, says: `is not accepted|` + notBelieved,
			forge: (*forged).accepts,
		},
		{
			name: "has the record accept what an install brings", commands: [][]string{{"install", "DIR/evil", "NAME"}}, says: `is not accepted|` + notBelieved,
			forge: (*forged).accepts,
		},
		{
			name: "has the record accept what a removal deletes", commands: [][]string{removing}, says: notVerified,
			forge: func(f *forged) {
				f.lists(f.foreign("v1", "Namespace", "", f.other, "/api/v1/namespaces/"+f.other))
				f.edit(f.recordName(), func(record map[string]any) {
					record["accepted"] = map[string]any{strings.Repeat("a", 64): 1}
				})
			},
		},
	}
}

// plants writes the shadow's plan as the plan of a revision, and its record too.
func (f *forged) plants(revision int, newest bool, change func(record map[string]any)) {
	name := f.recordName() + ".v" + strconv.Itoa(revision)
	plan, record := preview.CloneBody(f.shadow[f.recordName()+".v1.1"]), preview.CloneBody(f.shadow[f.recordName()])
	preview.Map(plan, "metadata")["name"] = name + ".1"
	f.put(plan)
	own := f.secret(f.recordName())
	f.change(record, func(r map[string]any) {
		r["revision"] = revision
		f.change(own, func(have map[string]any) {
			r["namespaces"] = have["namespaces"]
			if newest {
				r["older"], r["inventory"] = have["older"], have["inventory"]
			}
		})
		if change != nil {
			change(r)
		}
	})
	if !newest {
		own = f.secret(name + ".0")
	}
	preview.Map(own, "data")["record"] = preview.String(record, "data", "record")
	f.put(own)
}

func contentForgeries() []forgery {
	return []forgery{
		{
			name: "writes another plan as the revision to go back to", shadow: true, commands: [][]string{rollingBack}, says: "one of them was changed",
			forge: func(f *forged) { f.plants(1, false, nil) },
		},
		{
			name: "writes another plan as the revision to go back to, and accepts it", shadow: true, commands: [][]string{rollingBack}, says: "one of them was changed",
			forge: func(f *forged) { f.plants(1, false, nil); f.accepts() },
		},
		{
			name: "writes another plan as the newest revision", shadow: true, commands: [][]string{goingBack}, says: notVerified,
			forge: func(f *forged) { f.plants(2, true, nil) },
		},
		{
			name: "writes another plan as the newest revision, and accepts it", shadow: true, commands: [][]string{goingBack}, says: notVerified,
			forge: func(f *forged) { f.plants(2, true, nil); f.accepts() },
		},
		{
			name: "writes another plan as an unfinished revision", shadow: true, commands: [][]string{upgradeThree}, says: notVerified,
			forge: func(f *forged) {
				f.plants(2, true, func(r map[string]any) { r["state"] = "applying"; r["stage"] = "bindings" })
			},
		},
		{
			name: "writes another plan as an undo under way", shadow: true, commands: [][]string{upgradeThree, rollingBack}, says: notVerified + `|is applying`,
			forge: func(f *forged) {
				f.plants(2, true, func(r map[string]any) {
					r["state"], r["undoes"] = "applying", map[string]any{"revision": 1, "digest": r["digest"]}
				})
			},
		},
		{
			name: "exchanges the plan of a revision", commands: [][]string{rollingBack}, says: `its parts are not those the record was written with`,
			forge: func(f *forged) {
				plan := f.secret(f.recordName() + ".v1.1")
				preview.Map(plan, "data")["plan"] = preview.String(f.secret(f.recordName()+".v2.1"), "data", "plan")
				f.put(plan)
			},
		},
		{
			name: "names a catalog of their own", commands: [][]string{{"upgrade", "NAME"}}, says: `catalog`,
			forge: func(f *forged) {
				f.edit(f.recordName(), func(record map[string]any) {
					pkg := record["packages"].([]any)[0].(map[string]any)
					pkg["via"] = []any{map[string]any{"kind": "catalog", "reference": "127.0.0.1:1/evil/catalog:latest", "channel": "stable"}}
				})
			},
		},
		{
			name: "names another reference", commands: [][]string{{"upgrade", "NAME"}}, says: `REF|which came from|catalog`,
			forge: func(f *forged) {
				f.edit(f.recordName(), func(record map[string]any) {
					record["request"].(map[string]any)["reference"] = f.fill("DIR/evil")[0]
				})
			},
		},
	}
}

// foreign is an entry of an inventory for an object that is not the release's.
func (f *forged) foreign(apiVersion, kind, namespace, name, path string) map[string]any {
	live := f.mustDo(f.admin, http.MethodGet, path, nil)
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "namespace": namespace, "name": name,
		"uid": preview.String(live, "metadata", "uid"), "package": "all", "action": "create",
	}
}

// lists enters an object into the inventory; a Namespace as made by the release.
func (f *forged) lists(item map[string]any) {
	f.edit(f.recordName(), func(record map[string]any) {
		items := append(record["inventory"].([]any), item)
		slices.SortFunc(items, func(a, b any) int { return strings.Compare(idOf(a), idOf(b)) })
		record["inventory"] = items
		if item["kind"] == "Namespace" {
			record["namespaces"] = map[string]any{item["name"].(string): item["uid"]}
		}
	})
}

func idOf(item any) string {
	i := item.(map[string]any)
	namespace, _ := i["namespace"].(string)
	return preview.Ref{APIVersion: i["apiVersion"].(string), Kind: i["kind"].(string), Namespace: namespace, Name: i["name"].(string)}.ID()
}

func (f *forged) precious() map[string]any {
	return f.foreign("v1", "ConfigMap", f.other, "precious", "/api/v1/namespaces/"+f.other+"/configmaps/precious")
}

func inventoryForgeries() []forgery {
	return []forgery{
		{
			name: "lists an object of another namespace, for a removal", commands: [][]string{uninstalling}, says: notVerified,
			forge: func(f *forged) { f.lists(f.precious()) },
		},
		{
			name: "lists an object of another namespace, for an upgrade", commands: [][]string{upgradeThree}, says: notVerified,
			forge: func(f *forged) { f.lists(f.precious()) },
		},
		{
			name: "lists an object of another namespace, for a rollback", commands: [][]string{rollingBack}, says: notVerified,
			forge: func(f *forged) { f.lists(f.precious()) },
		},
		{
			name: "lists an object of another field manager", commands: [][]string{uninstalling}, says: notVerified,
			forge: func(f *forged) {
				item := f.precious()
				item["manager"], item["action"] = "kubectl-operator/"+f.name, "patch"
				f.lists(item)
			},
		},
		{
			name: "lists another's Namespace as made by the release", commands: [][]string{removing}, says: notVerified,
			forge: func(f *forged) {
				f.lists(f.foreign("v1", "Namespace", "", f.other, "/api/v1/namespaces/"+f.other))
			},
		},
		{
			name: "lists kube-system as made by the release", commands: [][]string{removing}, says: notVerified,
			forge: func(f *forged) {
				f.lists(f.foreign("v1", "Namespace", "", "kube-system", "/api/v1/namespaces/kube-system"))
			},
		},
		{
			name: "lists a ClusterRoleBinding of the control plane", commands: [][]string{uninstalling}, says: notVerified,
			forge: func(f *forged) {
				f.lists(f.foreign("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "cluster-admin", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin"))
			},
		},
		{
			name: "empties the inventory", commands: [][]string{upgradeThree}, says: ``,
			forge: func(f *forged) {
				f.edit(f.recordName(), func(record map[string]any) { record["inventory"] = []any{} })
			},
		},
	}
}

// becomes changes fields of the newest record.
func becomes(fields map[string]any) func(f *forged) {
	return func(f *forged) {
		f.edit(f.recordName(), func(record map[string]any) { maps.Copy(record, fields) })
	}
}

func stateForgeries() []forgery {
	digest := "sha256:" + strings.Repeat("0", 64)
	return []forgery{
		{
			name: "says that the release is uninstalled", commands: [][]string{uninstalling, upgradeThree}, says: `nothing of it is left|there is none of that name|no release|it is not installed`,
			forge: becomes(map[string]any{"state": "uninstalled"}),
		},
		{
			name: "says that the revision failed", commands: [][]string{goingBack, upgradeThree}, says: `is failed|` + notVerified,
			forge: becomes(map[string]any{"state": "failed"}),
		},
		{
			name: "says that the newest revision is another one", commands: [][]string{rollingBack}, says: `revision|` + notVerified,
			forge: becomes(map[string]any{"revision": 1_000_000}),
		},
		{
			name: "says that another plan was applied", commands: [][]string{goingBack}, says: `digest|does not match|not the plan`,
			forge: becomes(map[string]any{"digest": digest, "contentDigest": digest}),
		},
		{
			name: "says that the record is of another cluster", commands: [][]string{upgradeThree}, says: notVerified,
			forge: becomes(map[string]any{"target": "another"}),
		},
		{
			name: "says that the record is of another release", commands: [][]string{upgradeThree}, says: `it is the record of release "mine"`,
			forge: func(f *forged) {
				f.edit(f.recordName(), func(record map[string]any) {
					record["release"] = map[string]any{"name": "mine", "namespace": f.name}
				})
			},
		},
		{
			name: "lists 200,000 older revisions", commands: [][]string{upgradeThree}, says: `100000|more than|not a record`,
			forge: func(f *forged) {
				f.edit(f.recordName(), func(record map[string]any) {
					older := make([]any, 200_000)
					for i := range older {
						older[i] = map[string]any{"revision": i + 1, "state": "applied"}
					}
					record["older"] = older
				})
			},
		},
	}
}

// data changes what the Secret with the newest record holds.
func data(key, value string) func(f *forged) {
	return func(f *forged) {
		secret := f.secret(f.recordName())
		preview.Map(secret, "data")[key] = base64.StdEncoding.EncodeToString([]byte(value))
		f.put(secret)
	}
}

func formForgeries() []forgery {
	return []forgery{
		{
			name: "writes garbage for the record", commands: [][]string{upgradeThree, uninstalling}, says: `not a record|gzip|kubectl delete secret`,
			forge: data("record", "garbage"),
		},
		{
			name: "writes a record that unpacks to a gigabyte", commands: [][]string{upgradeThree}, says: `more than|larger|not a record`,
			forge: func(f *forged) { data("record", string(compressed(make([]byte, 1<<30))))(f) },
		},
		{
			name: "writes an index of parts that are not there", commands: [][]string{upgradeThree}, says: `part 1 of 2`,
			forge: data("index", `{"revision":2,"slot":1,"parts":2,"bytes":10,"sha256":"x"}`),
		},
		{
			name: "writes a record of another version", commands: [][]string{upgradeThree}, says: `version "9"`,
			forge: data("recordVersion", "9"),
		},
		{
			name: "puts an ordinary Secret in the record's place", commands: [][]string{upgradeThree}, says: `its type is "Opaque"`,
			forge: func(f *forged) {
				secret := f.secret(f.recordName())
				f.mustDo(f.tenant, http.MethodDelete, f.secrets("/"+f.recordName()), nil)
				secret["type"] = "Opaque"
				f.put(secret)
			},
		},
		{
			name: "says that another tool wrote the record", commands: [][]string{upgradeThree}, says: `another|belongs to the tool`,
			forge: func(f *forged) {
				secret := f.secret(f.recordName())
				preview.Map(secret, "metadata", "annotations")[preview.AnnotationTool] = "other/v1"
				f.put(secret)
			},
		},
		{
			name: "deletes the record", commands: [][]string{{"install", "DIR/three", "NAME"}}, says: ``,
			forge: func(f *forged) { f.mustDo(f.tenant, http.MethodDelete, f.secrets("/"+f.recordName()), nil) },
		},
	}
}

func objectForgeries() []forgery {
	return []forgery{
		{
			name: "holds the lock", commands: [][]string{upgradeThree}, says: notVerified,
			forge: func(f *forged) {
				now := time.Now().UTC().Add(1000 * time.Hour).Format("2006-01-02T15:04:05.000000Z07:00")
				f.mustDo(f.tenant, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/"+f.name+"/leases", map[string]any{
					"metadata": map[string]any{"name": f.recordName()},
					"spec":     map[string]any{"holderIdentity": "mine", "leaseDurationSeconds": 1_000_000, "acquireTime": now, "renewTime": now},
				})
			},
		},
		{
			name: "marks an object as the release's, and lists it", commands: [][]string{uninstalling}, says: notVerified,
			forge: func(f *forged) {
				path := "/api/v1/namespaces/" + f.name + "/configmaps"
				f.mustDo(f.tenant, http.MethodPost, path, map[string]any{"metadata": map[string]any{"name": "mine", "labels": map[string]any{
					preview.LabelPartOf: preview.SetID(f.release()), preview.LabelRelease: f.name,
				}}})
				f.lists(f.foreign("v1", "ConfigMap", f.name, "mine", path+"/mine"))
			},
		},
		{
			name: "takes the release's mark from an object", commands: [][]string{upgradeThree}, says: `exists and is not part of this release`,
			forge: func(f *forged) {
				path := "/api/v1/namespaces/" + f.name + "/configmaps/settings"
				live := f.mustDo(f.tenant, http.MethodGet, path, nil)
				preview.Map(live, "metadata")["labels"] = map[string]any{}
				f.mustDo(f.tenant, http.MethodPut, path, live)
			},
		},
	}
}
