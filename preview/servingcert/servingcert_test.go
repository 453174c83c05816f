package servingcert_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

var (
	hosts = []string{"hook.app.svc", "hook.app", "hook.app.svc.cluster.local"}
	now   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

const day = 24 * time.Hour

func made(t *testing.T) *servingcert.Set {
	t.Helper()
	set, err := servingcert.New(hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func secretOf(set *servingcert.Set) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": servingcert.SecretType,
		"metadata": map[string]any{"name": "c", "namespace": "app"}, "data": set.Data(),
	}
}

// verify is what an API server does with a webhook.
func verify(t *testing.T, set *servingcert.Set, host string, at time.Time) error {
	t.Helper()
	pair, err := tls.X509KeyPair(set.Certificate, set.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(set.Authority) {
		t.Fatal("the authority is no PEM")
	}
	_, err = pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, CurrentTime: at})
	return err
}

func TestACertificateIsTrustedForItsHostsAndItsTime(t *testing.T) {
	set := made(t)
	for _, host := range hosts {
		if err := verify(t, set, host, now.Add(729*day)); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if verify(t, set, "hook.other.svc", now) == nil {
		t.Error("it is good for a Service of another namespace")
	}
	if verify(t, set, hosts[0], now.Add(731*day)) == nil {
		t.Error("it does not end")
	}
}

// A key that leaves the Secret issues nothing for other Services.
func TestTheAuthorityIsForItsServiceAlone(t *testing.T) {
	set, other := made(t), made(t)
	forged := &servingcert.Set{Authority: set.Authority, AuthorityKey: set.AuthorityKey, Certificate: other.Certificate, Key: other.Key}
	if got, fresh, err := forged.Renew(hosts, now); err != nil || !fresh || bytes.Equal(got.Authority, set.Authority) {
		t.Errorf("a certificate of another authority was kept: %v %v", fresh, err)
	}
	again, _, err := servingcert.Read(secretOf(set)).Renew([]string{"kubernetes.default.svc"}, now)
	if err != nil || bytes.Equal(again.Authority, set.Authority) {
		t.Errorf("the authority issued for another Service: %v", err)
	}
}

func TestRenewal(t *testing.T) {
	first := made(t)
	for name, tc := range map[string]struct {
		from          *servingcert.Set
		at            time.Time
		made, another bool // a certificate, an authority
	}{
		"the next day it is kept":                              {first, now.Add(day), false, false},
		"just before two thirds of its life it is kept":        {first, now.Add(486 * day), false, false},
		"after two thirds it is renewed by the same authority": {first, now.Add(487 * day), true, false},
		"when it has ended it is renewed too":                  {first, now.Add(800 * day), true, false},
		"an authority that would end first is replaced":        {first, now.Add(3000 * day), true, true},
		"where there is none, one is made":                     {nil, now, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, fresh, err := tc.from.Renew(hosts, tc.at)
			if err != nil {
				t.Fatal(err)
			}
			if fresh != tc.made || tc.from != nil && bytes.Equal(got.Authority, tc.from.Authority) == tc.another {
				t.Errorf("made %v", fresh)
			}
			if err := verify(t, got, hosts[0], tc.at); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASecretThatIsNotOneIsReadAsNone(t *testing.T) {
	good := secretOf(made(t))
	for _, key := range []string{"tls.crt", "tls.key", "ca.crt", "ca.key"} {
		for _, bad := range []any{nil, "", "%", "bm8="} {
			secret := preview.CloneBody(good)
			secret["data"].(map[string]any)[key] = bad
			set := servingcert.Read(secret)
			if _, fresh, err := set.Renew(hosts, now); err != nil || !fresh {
				t.Errorf("%s %v: made %v, %v", key, bad, fresh, err)
			}
		}
	}
	if set := servingcert.Read(good); set == nil || !maps.Equal(set.Data(), good["data"].(map[string]any)) {
		t.Error("what was written is not read again")
	}
}

func TestTrust(t *testing.T) {
	set := made(t)
	hook := func(service, bundle string) map[string]any {
		client := map[string]any{"service": map[string]any{"name": service, "namespace": "app"}}
		if bundle != "" {
			client["caBundle"] = bundle
		}
		return map[string]any{"kind": "ValidatingWebhookConfiguration", "webhooks": []any{map[string]any{"clientConfig": client}}}
	}
	for name, tc := range map[string]struct {
		body map[string]any
		want bool
	}{
		"an earlier authority is replaced":          {hook("hook", "b2xk"), true},
		"that of another Service is left":           {hook("other", "b2xk"), false},
		"what a controller fills in is left to it":  {hook("hook", ""), false},
		"what is trusted already does not change":   {hook("hook", set.Data()["ca.crt"].(string)), false},
		"an object that calls nothing is left":      {map[string]any{"kind": "ConfigMap"}, false},
		"the conversion of a CRD trusts it as well": {map[string]any{"spec": map[string]any{"conversion": map[string]any{"webhook": hook("hook", "b2xk")["webhooks"].([]any)[0]}}}, true},
	} {
		if got := servingcert.Trust(tc.body, secretOf(set)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
