"""The commands of `varlaw`, one small file each; what they print is made in modules beside."""
