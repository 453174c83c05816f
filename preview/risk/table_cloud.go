package risk

import (
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func cloudRules() []entry {
	out := []entry{
		{Rule: rules.CloudWildcardAction, cloud: highest(tabled(rules.CloudWildcardAction), wildcardAction)},
		{Rule: rules.CloudPassRole, cloud: awsMatch(passRole)},
		{Rule: rules.CloudAllBut, cloud: exceptions},
		{Rule: rules.CloudWriteEverywhere, cloud: awsMatch(mutatesEverything)},
		{Rule: rules.CloudEscalation, cloud: gcpEscalation},
		{Rule: rules.CloudPublic, cloud: publicMembers},
		{Rule: rules.CloudTrust, object: admissions},
		{Rule: rules.CloudAzureContributor, cloud: azureContributor},
		{Rule: rules.CloudAzureKeys, cloud: highest(tabled(rules.CloudAzureKeys), actionLike(cloud.Azure, High, nil, []string{"/listKeys/action", "/listCredentials/action", "/listSecrets/action", "/listConnectionStrings/action"}))},
		{Rule: rules.CloudIBMAdministrator, cloud: ibmAdministrator},
		{Rule: rules.CloudVSphereControl, cloud: actionLike(cloud.VSphere, High, []string{"Host.Config.", "Global."}, nil, "Authorization.ModifyRoles", "Authorization.ModifyPermissions")},
		{Rule: rules.CloudUnscoped, cloud: unscopedProvider},
		{Rule: rules.CloudStaticCredentials, object: staticCredentials},
		{Rule: rules.CloudSharedIdentity, object: sharedIdentity},
		{Rule: rules.CloudAccessWidened, cloud: wider},
	}
	for _, rule := range []rules.Rule{
		rules.CloudIAMWrite, rules.CloudAssumeRole, rules.CloudReadSecrets, rules.CloudAllBuckets, rules.CloudHosts, rules.CloudCode, rules.CloudAccount,
		rules.CloudClusterAdmin, rules.CloudBasicRole, rules.CloudIAMRole, rules.CloudServiceAdmin, rules.CloudAzureOwner, rules.CloudAzureAuthorization,
		rules.CloudAzureHosts,
	} {
		out = append(out, entry{Rule: rule, cloud: tabled(rule)})
	}
	return out
}
