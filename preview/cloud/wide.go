package cloud

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Permits reports whether a permission includes an action: one of its patterns
// covers it, and no exception of the statement does.
func Permits(p preview.CloudPermission, action string) bool {
	if !Covers(p, action) {
		return false
	}
	for _, field := range []string{notAction, notActions, notDataActions} {
		if slices.ContainsFunc(texts(p.Conditions[field]), func(pattern string) bool { return Glob(strings.ToLower(pattern), strings.ToLower(action)) }) {
			return false
		}
	}
	return true
}

// samples are actions that have nothing in common: a pattern for all of them is one
// for every action.
var samples = []string{"iam:CreateUser", "s3:GetObject", "ec2:RunInstances", "sts:AssumeRole", "kms:Decrypt", "logs:PutLogEvents"}

// EveryAction reports whether a pattern covers every action, however it is written.
func EveryAction(pattern string) bool {
	if pattern != "" && strings.Trim(pattern, "*:") == "" {
		return true
	}
	return !slices.ContainsFunc(samples, func(action string) bool { return !Glob(strings.ToLower(pattern), strings.ToLower(action)) })
}

// Wide reports whether a permission is limited to no resource that it names. The
// account, the region and the kind in an ARN name none, and neither does a pattern
// that begins with a star. An AWS statement without resources is not limited by
// what it does not say; scopes of other clouds are compared where they matter.
func Wide(p preview.CloudPermission) bool {
	if p.Provider != AWS {
		return true
	}
	return len(p.Resources) == 0 || slices.ContainsFunc(p.Resources, wideResource)
}

func wideResource(resource string) bool {
	parts := strings.SplitN(resource, ":", 6)
	if len(parts) < 6 {
		return strings.HasPrefix(resource, "*") || strings.HasPrefix(resource, "?") || strings.HasPrefix(resource, "arn:") && strings.HasSuffix(resource, "*")
	}
	if open(parts[5]) {
		return true
	}
	at := strings.IndexAny(parts[5], "/:")
	service := parts[2]
	if at < 0 || service == "s3" || service == "sns" || service == "sqs" { // no kind before the name
		return false
	}
	return open(parts[5][at+1:])
}

// open reports whether a name begins with a wildcard, or is none.
func open(name string) bool {
	return name == "" || strings.HasPrefix(name, "*") || strings.HasPrefix(name, "?")
}

// Vacuous reports whether conditions hold for everyone, or nearly: none of them
// limits who asks, or for what.
func Vacuous(conditions map[string]any) bool {
	for operator, v := range conditions {
		keys, ok := v.(map[string]any)
		if !ok {
			return false
		}
		for key, values := range keys {
			if !vacuous(operator, strings.ToLower(key), conditionValues(values)) {
				return false
			}
		}
	}
	return true
}

// conditionValues returns the values of a condition as texts.
func conditionValues(v any) []string {
	if flag, ok := v.(bool); ok {
		if flag {
			return []string{"true"}
		}
		return []string{"false"}
	}
	return texts(v)
}

// anyone are keys that say when or how a request is made, not by whom or on what.
var anyone = []string{
	"aws:currenttime", "aws:epochtime", "aws:referer", "aws:requestedregion", "aws:securetransport", "aws:tokenissuetime", "aws:useragent",
	"aws:viaawsservice", "aws:principalisawsservice", "s3:signatureversion", "s3:tlsversion", "s3:authtype",
}

func vacuous(operator, key string, values []string) bool {
	plain, of := strings.CutPrefix(operator, "ForAllValues:")
	if of || strings.HasSuffix(operator, "IfExists") {
		return true // holds where the request does not have the key
	}
	plain = strings.TrimPrefix(plain, "ForAnyValue:")
	switch {
	case slices.Contains(anyone, key), strings.Contains(plain, "Not"), plain == "Null":
		return true
	case plain == "Bool":
		return slices.Contains(values, "false")
	case plain == "IpAddress":
		return everyAddress(values)
	case plain == "StringLike" || strings.HasPrefix(plain, "Arn"):
		return slices.ContainsFunc(values, func(value string) bool {
			return Glob(value, "zz") || Glob(value, "arn:aws:iam::999999999999:role/zz")
		})
	}
	return false
}

// everyAddress reports whether a range is the whole of the internet, or half of it.
func everyAddress(ranges []string) bool {
	return slices.ContainsFunc(ranges, func(text string) bool {
		prefix, err := netip.ParsePrefix(text)
		return err == nil && prefix.Bits() <= 1
	})
}
