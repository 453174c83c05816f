package plugins

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

func liveHost() map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "server", "namespace": "hosts"},
		"spec": map[string]any{"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "server"}},
			"spec": map[string]any{
				"initContainers": []any{map[string]any{"name": "migrate", "image": "example.com/server:1"}},
				"containers":     []any{map[string]any{"name": "server", "image": "example.com/server:1", "volumeMounts": []any{map[string]any{"name": "data", "mountPath": "/data"}}}},
				"volumes":        []any{map[string]any{"name": "data", "emptyDir": map[string]any{}}},
			},
		}},
	}
}

// TestTheInitContainerRunsTheCustomImageOrElseTheDefault also tells of an image
// that may be another tomorrow.
func TestTheInitContainerRunsTheCustomImageOrElseTheDefault(t *testing.T) {
	const pinned = "example.com/own@sha256:0000000000000000000000000000000000000000000000000000000000000001"
	for _, test := range []struct {
		name, images, location string
		want, refusal          string
		byTag                  bool
	}{
		{"the custom one", "custom-init-image: " + pinned + ", default-init-image: example.com/kop:1", "/var/lib/optimus/plugins", pinned, "", false},
		{"the default one", "default-init-image: " + pinned, "/var/lib/optimus/plugins", pinned, "", false},
		{"a custom one by tag", "custom-init-image: example.com/own:1, default-init-image: " + pinned, "/var/lib/optimus/plugins", "example.com/own:1", "", true},
		{"none", "", "/var/lib/optimus/plugins", "", "spec.host names no image for the init container; write custom-init-image or default-init-image", false},
		{"plugins beside everything else", "default-init-image: " + pinned, "/plugins", "", "a pod needs an absolute path below a directory that is for plugins alone", false},
		{"plugins where nobody knows", "default-init-image: " + pinned, "plugins", "", "a pod needs an absolute path below a directory that is for plugins alone", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := "{deployment: {namespace: hosts, name: server}, " + test.images + "}"
			set, err := Parse(hostedSet(host, "\n  installLocation: "+test.location), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if noted := len(set.Host.initImageNotes()) > 0; noted != test.byTag {
				t.Errorf("told of a tag: %t", noted)
			}
			live := liveHost()
			template, err := PodTemplate(set, live)
			if test.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), test.refusal) {
					t.Fatalf("got %v, want %s", err, test.refusal)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pod, _ := preview.PodTemplate(template)
			boot := preview.Maps(pod, "initContainers")[0]
			if preview.String(boot, "name") != engine.BootContainer || preview.String(boot, "image") != test.want {
				t.Errorf("the first init container is %v", boot)
			}
			for _, container := range append(preview.Maps(pod, "initContainers")[1:], preview.Maps(pod, "containers")...) {
				mounts := preview.Maps(container, "volumeMounts")
				last := mounts[len(mounts)-1]
				if preview.String(last, "mountPath") != "/var/lib/optimus" || last["readOnly"] != true || preview.String(container, "image") != "example.com/server:1" {
					t.Errorf("container %v", container)
				}
			}
			before, _ := preview.PodTemplate(live)
			if len(preview.Maps(before, "volumes")) != 1 || len(preview.Maps(pod, "volumes")) != 4 {
				t.Errorf("volumes %v, of the live host %v", pod["volumes"], before["volumes"])
			}
		})
	}
}
