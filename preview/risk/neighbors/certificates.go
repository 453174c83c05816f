package neighbors

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func certificateRows() []Row {
	return []Row{
		{rules.CertificateRequest, kinds("certificates.k8s.io/CertificateSigningRequest"), certificateRequest},
		{rules.CertificateRequest, kinds("certificates.k8s.io/PodCertificateRequest"), podCertificateRequest},
		{rules.TrustBundle, kinds("certificates.k8s.io/ClusterTrustBundle"), trustBundle},
		{rules.DeviceAccess, kinds("resource.k8s.io/ResourceClaim", "resource.k8s.io/ResourceClaimTemplate"), deviceClaim},
		{rules.DeviceAccess, kinds("resource.k8s.io/ResourceSlice", "resource.k8s.io/DeviceTaintRule", "resource.k8s.io/DeviceClass"), deviceObjects},
	}
}

const kubernetesSigner = "kubernetes.io/"

// certificateRequest judges a CertificateSigningRequest by its signer, its usages, and
// the subject in the encoded request. spec.username and spec.groups are not looked at,
// as the API server sets them.
func certificateRequest(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	signer := preview.String(spec, "signerName")
	level := rules.Medium
	if signer == "" || hasPrefix(signer, kubernetesSigner) {
		level = rules.High
	}
	request, err := parseRequest(preview.String(spec, "request"))
	if err != "" {
		v.add(level, words.Signer.Of(signer, err))
		return v.result()
	}
	names := append([]string{request.Subject.CommonName}, request.Subject.Organization...)
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(strings.TrimSpace(name), "system:") }) ||
		slices.Contains(request.Subject.Organization, "kubeadm:cluster-admins") {
		level = rules.Critical
	}
	if asksForAuthority(request) || slices.Contains(texts(spec["usages"]), "cert sign") {
		level = rules.Critical
		v.add(level, words.ItIsACertificateAuthority.Of())
	}
	v.add(level, words.SignerUserInGroups.Of(signer, request.Subject.CommonName, fmt.Sprintf("%q", request.Subject.Organization)))
	return v.result()
}

func parseRequest(text string) (*x509.CertificateRequest, string) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, "its request is not base64"
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, "its request is not PEM"
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, "its request cannot be read"
	}
	return request, ""
}

// asksForAuthority reports whether a certificate request asks for a certificate
// authority (basic constraint CA).
func asksForAuthority(request *x509.CertificateRequest) bool {
	basicConstraints := asn1.ObjectIdentifier{2, 5, 29, 19}
	return slices.ContainsFunc(request.Extensions, func(e pkix.Extension) bool {
		var constraints struct {
			CA bool `asn1:"optional"`
		}
		_, err := asn1.Unmarshal(e.Value, &constraints)
		return e.Id.Equal(basicConstraints) && (err != nil || constraints.CA)
	})
}

func podCertificateRequest(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	level, signer := rules.Medium, preview.String(spec, "signerName")
	if hasPrefix(signer, kubernetesSigner) {
		level = rules.High
	}
	v.add(level, words.SignerAsPodWithServiceAccount.Of(signer, preview.String(spec, "podName"), preview.String(spec, "serviceAccountName")))
	return v.result()
}

func trustBundle(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	signer := preview.String(o.Body, "spec", "signerName")
	switch {
	case hasPrefix(signer, kubernetesSigner) || hasPrefix(o.Name, "kubernetes.io:"):
		v.add(rules.Critical, words.SignerPodsTrustTheseAuthoritiesFor.Of(signer))
	case signer != "":
		v.add(rules.High, words.SignerNamed.Of(signer))
	default:
		v.add(rules.Medium, words.ForPodsThatMountItBy.Of())
	}
	return v.result()
}

func deviceClaim(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	if o.Kind == "ResourceClaimTemplate" {
		spec = preview.Map(spec, "spec")
	}
	for _, request := range preview.Maps(preview.Map(spec, "devices"), "requests") {
		name := preview.String(request, "name")
		forms := append([]map[string]any{request, preview.Map(request, "exactly")}, preview.Maps(request, "firstAvailable")...)
		for _, form := range forms {
			v.addIf(form["adminAccess"] == true, rules.High, words.RequestHasAdminAccessDevicesThat.Of(name))
		}
	}
	v.addIf(o.foreign(o.Namespace), rules.Medium, words.ItTakesDevicesForNamespace.Of(o.Namespace))
	deviceSettings(&v, rules.Low, preview.Map(spec, "devices"))
	return v.result()
}

func deviceObjects(o Object) (rules.Level, []preview.Seen) {
	var v verdict
	spec := preview.Map(o.Body, "spec")
	switch o.Kind {
	case "ResourceSlice":
		v.add(rules.High, words.ItSaysWhichDevicesDriverHas.Of(preview.String(spec, "driver"), orEvery(preview.String(spec, "nodeName"), "every node")))
	case "DeviceTaintRule":
		level := rules.Medium
		if len(preview.Map(spec, "deviceSelector")) == 0 || preview.String(spec, "taint", "effect") == "NoExecute" {
			level = rules.High
		}
		v.add(level, words.TaintOnDevices.Of(preview.String(spec, "taint", "key"), preview.String(spec, "taint", "effect")))
	default:
		name := preview.String(spec, "extendedResourceName")
		v.addIf(name != "", rules.Medium, words.ItAnswersForTheExtendedResource.Of(name))
		deviceSettings(&v, rules.Medium, spec)
	}
	return v.result()
}

// deviceSettings adds evidence for settings that are passed to a device driver, which
// runs as root on the node.
func deviceSettings(v *verdict, level rules.Level, of map[string]any) {
	for _, config := range preview.Maps(of, "config") {
		opaque := preview.Map(config, "opaque")
		v.addIf(opaque != nil, level, words.SettingsForDriver.Of(preview.String(opaque, "driver")))
	}
}
