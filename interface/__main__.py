"""`python -m varlaw` is the command `varlaw`."""

from varlaw.cli import main

if __name__ == "__main__":
    main(prog_name="varlaw")
