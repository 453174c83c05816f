package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/cloudmatch"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func cloudRules() []entry {
	out := []entry{
		{Rule: rules.CloudWildcardAction, cloud: matching(cloudmatch.Highest(cloudmatch.Tabled(rules.CloudWildcardAction), cloudmatch.WildcardAction))},
		{Rule: rules.CloudPassRole, cloud: passRole},
		{Rule: rules.CloudAllBut, cloud: matching(cloudmatch.Exceptions)},
		{Rule: rules.CloudWriteEverywhere, cloud: matching(cloudmatch.OfAWS(cloudmatch.MutatesEverything))},
		{Rule: rules.CloudEscalation, cloud: matching(cloudmatch.GCPEscalation)},
		{Rule: rules.CloudPublic, cloud: matching(cloudmatch.PublicMembers)},
		{Rule: rules.CloudTrust, object: facts(admissions)},
		{Rule: rules.CloudAzureContributor, cloud: matching(cloudmatch.AzureContributor)},
		{Rule: rules.CloudAzureKeys, cloud: matching(cloudmatch.Highest(cloudmatch.Tabled(rules.CloudAzureKeys), cloudmatch.ActionLike(cloud.Azure, High, nil, []string{"/listKeys/action", "/listCredentials/action", "/listSecrets/action", "/listConnectionStrings/action"})))},
		{Rule: rules.CloudIBMAdministrator, cloud: matching(cloudmatch.IBMAdministrator)},
		{Rule: rules.CloudVSphereControl, cloud: matching(cloudmatch.ActionLike(cloud.VSphere, High, []string{"Host.Config.", "Global."}, nil, "Authorization.ModifyRoles", "Authorization.ModifyPermissions"))},
		{Rule: rules.CloudUnscoped, cloud: matching(cloudmatch.UnscopedProvider)},
		{Rule: rules.CloudStaticCredentials, object: facts(staticCredentials)},
		{Rule: rules.CloudSharedIdentity, object: facts(sharedIdentity)},
		{Rule: rules.CloudAccessWidened, cloud: wider},
	}
	for _, rule := range []rules.Rule{
		rules.CloudIAMWrite, rules.CloudAssumeRole, rules.CloudReadSecrets, rules.CloudAllBuckets, rules.CloudHosts, rules.CloudCode, rules.CloudAccount,
		rules.CloudClusterAdmin, rules.CloudBasicRole, rules.CloudIAMRole, rules.CloudServiceAdmin, rules.CloudAzureOwner, rules.CloudAzureAuthorization,
		rules.CloudAzureHosts,
	} {
		out = append(out, entry{Rule: rule, cloud: matching(cloudmatch.Tabled(rule))})
	}
	return out
}

// matching returns what judges a permission by itself, whatever else the plan has.
func matching(match cloudmatch.Matcher) cloudMatch {
	return func(_ *scan, p preview.CloudPermission) Level { return match(p) }
}
