package risk

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
)

func TestTheModeOfCloudCredentials(t *testing.T) {
	const (
		aws   = "kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ['s3:GetObject'], resource: x}]"
		azure = "kind: AzureProviderSpec, permissions: [Microsoft.Compute/disks/read]"
		atRun = roleHead + "}\nrules: [{apiGroups: [cloudcredential.openshift.io], resources: [credentialsrequests], verbs: [create]}]\n"
		from  = "CredentialsRequest/occo/op "
	)
	tests := []struct {
		name, plan, mode string
		want             preview.Severity // empty for no finding
		evidence         string
	}{
		{"minted, a request gets what it asks for", request(aws), "Mint", preview.Info, "mode mint: " + from + "(aws) gets an identity of its own"},
		{"passed through, it gets everything", request(aws), "Passthrough", preview.Warning, "mode passthrough: " + from + "(aws) gets a copy of the credential of the cluster"},
		{"by hand, somebody decides", request(aws), "Manual", preview.Info, "mode manual: " + from + "(aws) gets what is created for it by hand"},
		{"by default it depends on AWS", request(aws), "", preview.Info, "mode default: " + from + "(aws) gets an identity of its own, or a copy of the credential of the cluster where that one may not make identities"},
		{"by default Azure's is passed through", request(azure), "", preview.Warning, "mode default: " + from + "(azure) gets a copy of the credential of the cluster"},
		{"Azure cannot be minted", request(azure), "Mint", preview.Info, "mode mint: " + from + "(azure) gets nothing, as credentials of azure cannot be minted"},
		{"a mode nobody knows", request(aws), "Lend", preview.Info, "mode lend: " + from + "(aws) gets what this review does not know"},
		{
			"requests at run time are served alike", atRun, "Passthrough", preview.Warning,
			"mode passthrough: " + cloud.RunTime + ": ClusterRole/r writes credentialsrequests.cloudcredential.openshift.io (openshift) gets a copy of the credential of the cluster",
		},
		{"a request without limits has a finding of its own", request("kind: OpenStackProviderSpec"), "Passthrough", "", ""},
		{"without requests the mode does not matter", pod("", "image: c"), "Passthrough", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, test.plan)
			body := planOf(t, "apiVersion: operator.openshift.io/v1\nkind: CloudCredential\nmetadata: {name: cluster}\nspec: {credentialsMode: '"+test.mode+"'}\n").Objects[0].Planned
			p.Reads = append(p.Reads, preview.Read{ID: preview.RefOf(body).ID(), UID: "u", Fingerprint: "f", Body: body})
			f := find(evaluate(t, Input{Plan: p}), "cloud-credentials-mode")
			switch {
			case f == nil && test.want != "":
				t.Error("nothing was found")
			case f != nil && (f.Severity != test.want || f.Evidence != test.evidence):
				t.Errorf("%s: %s", f.Severity, f.Evidence)
			}
		})
	}
	if f := find(evaluate(t, Input{Plan: planOf(t, request(aws))}), "cloud-credentials-mode"); f != nil {
		t.Errorf("where nothing was read it says %s", f.Evidence)
	}
}

// Who writes requests has what the cluster gives for them: in mode manual nothing.
func TestWhoWritesRequestsHasWhatTheClusterGives(t *testing.T) {
	const writes = roleHead + "}\nrules: [{apiGroups: [cloudcredential.openshift.io], resources: [credentialsrequests], verbs: [create]}]\n" + binding
	for name, test := range map[string]struct {
		mode string
		read bool
		want preview.Severity
	}{
		"what it asks for":         {"Mint", true, preview.Critical},
		"everything":               {"Passthrough", true, preview.Critical},
		"one of both, by default":  {"", true, preview.Critical},
		"nothing without a person": {"Manual", true, preview.Warning},
		"what is not known":        {"", false, preview.Warning},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, writes)
			if test.read {
				body := planOf(t, "apiVersion: operator.openshift.io/v1\nkind: CloudCredential\nmetadata: {name: cluster}\nspec: {credentialsMode: '"+test.mode+"'}\n").Objects[0].Planned
				p.Reads = append(p.Reads, preview.Read{ID: preview.RefOf(body).ID(), UID: "u", Fingerprint: "f", Body: body})
			}
			f := find(evaluate(t, Input{Plan: p}), "cloud-credentials-requested")
			if f == nil || f.Severity != test.want {
				t.Errorf("%+v", f)
			}
		})
	}
}
