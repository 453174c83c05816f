package sandboxtest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
)

// storedKeys are the prefixes in etcd of the objects of a kind.
var storedKeys = map[string]string{
	"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings", "Role": "roles", "RoleBinding": "rolebindings",
	"CustomResourceDefinition": "apiextensions.k8s.io/customresourcedefinitions",
	"Namespace":                "namespaces", "Node": "minions", "Secret": "secrets", "ServiceAccount": "serviceaccounts",
}

// The most objects, and about the most bytes, of one transaction of etcd, which takes
// 128 and 1.5 MiB.
const (
	mostStored  = 100
	storedBytes = 512 << 10
)

// Store writes objects into the etcd of a control plane, as the API server stores them:
// thousands in a second, where creating them takes minutes. Nothing validates or defaults
// them. Each gets a uid and the time of its creation, and the API server sees it soon
// after. It skips the test on a machine whose processes cannot be listed.
func Store(t testing.TB, sb *sandbox.Sandbox, objects iter.Seq[map[string]any]) {
	t.Helper()
	etcd, err := newEtcdClient(sb)
	if err != nil {
		t.Skip("skipped: the processes of the control plane cannot be read here:", err)
	}
	var group sync.WaitGroup
	sent := make(chan struct{}, 8) // transactions in flight
	failed := make(chan error, 1)
	var puts []any
	size := 0
	flush := func() {
		data, err := json.Marshal(map[string]any{"success": puts})
		if err != nil {
			t.Fatal(err)
		}
		puts, size = nil, 0
		sent <- struct{}{}
		group.Go(func() {
			defer func() { <-sent }()
			if err := etcd.commit(t.Context(), string(data)); err != nil {
				select {
				case failed <- err:
				default: // the first one is enough
				}
			}
		})
	}
	for body := range objects {
		key, value, err := storedObject(body)
		if err != nil {
			t.Fatal(err)
		}
		puts = append(puts, map[string]any{"requestPut": map[string]any{"key": key, "value": value}}) // in base64, as bytes are in JSON
		if size += len(value); len(puts) == mostStored || size > storedBytes {
			flush()
		}
	}
	if len(puts) > 0 {
		flush()
	}
	group.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
}

// commit carries out a transaction.
func (e *etcdClient) commit(ctx context.Context, transaction string) error {
	answer, code, err := roundTrip(ctx, e.http, http.MethodPost, e.url+"/v3/kv/txn", transaction)
	if err == nil && code != http.StatusOK {
		err = fmt.Errorf("etcd answers with %d: %.300s", code, answer)
	}
	return err
}

// storedObject returns the key and the value of an object in etcd.
func storedObject(body map[string]any) (key, value []byte, err error) {
	kind, _ := body["kind"].(string)
	prefix := storedKeys[kind]
	if prefix == "" {
		return nil, nil, fmt.Errorf("it is not known where etcd has objects of kind %s", kind)
	}
	path := "/registry/" + prefix + "/"
	meta, _ := body["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	if namespace, _ := meta["namespace"].(string); namespace != "" {
		path += namespace + "/"
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	meta["uid"] = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	meta["creationTimestamp"] = "2026-01-01T00:00:00Z"
	value, err = json.Marshal(body)
	return []byte(path + name), value, err
}
