//! For each code, the smallest program that provokes it.
//! Deliberately absent: what the code means; the library says so. A test runs every program.

use foldback::refusal::Code;

/// The program. A new code does not compile without one.
pub(crate) const fn example(code: Code) -> &'static str {
    match code {
        Code::Syntax => "param x = 1\ny = x +\n",
        Code::OpenInput => "param x [2] = 1\ny = x + ?\n",
        Code::UnknownName => "param weight = 1\ny = sqr(weigth)\n",
        Code::UnknownOp => "param x = 1\ny = sqrtt(x)\n",
        Code::WrongArguments => "param x [2] = 1\ny = sum(x, axis=3)\n",
        Code::DuplicateName => "param x = 1\nx = sqr(x)\n",
        Code::Cycle => "a = sqr(b)\nb = sqr(a)\n",
        Code::BadLiteral => "param x [3] = [1, 2]\n",
        Code::BadFile => "param w [2] = load(\"no-such-file.npy\")\n",
        Code::ShapesDoNotBroadcast => "param a [2, 3] = 1\nparam b [3, 2] = 1\ny = a + b\n",
        Code::BroadcastNotAllowed => "param a [3, 1] = 1\nparam b [1, 2] = 1\ny = a + b\n",
        Code::ShapeMismatch => "param a [2, 3] = 1\nparam b [2, 4] = 1\ny = mul_mat(a, b)\n",
        Code::NotContiguous => "rules upstream\nparam x [2, 3] = 1\ny = reshape(x.T, [6])\n",
        Code::NoParameter => "const x = 1\nloss = sqr(x)\n",
        Code::NoLoss => "param x = 1\ny = sqr(x)\ncheck fd\n",
        Code::LossNotScalar => "param x = [1, 2]\nloss = sqr(x)\n",
        Code::NoBackward => "rules upstream\nparam x = [1, 2]\nloss = sum(ceil(x))\n",
        Code::PartialBackward => "rules upstream\nparam x [2, 4] = 1\nloss = sum(swiglu(x))\n",
        Code::InPlaceWrite => "param a = [1, 2]\ns = exp(a)\nt = scale!(s, 2)\nloss = sum(t)\n",
        Code::NonFloatSource => "param i [2] i32 = [1, 2]\nparam x = [1, 2]\nloss = sum(x * i)\n",
        Code::GradientMissing => {
            "rules upstream\nparam x = [1, 2]\nparam p = [3, 4]\nd = p * 2\ny = cpy(x, into=d)\nloss = sum(y)\n"
        }
        Code::GradientShape => {
            "rules upstream\nparam w [1, 2] = [[0.3, 0.2]]\nc = sum_rows(w)\ny = w / c\nloss = y[0, 0]\n"
        }
        Code::AccumulatorShape => "param w = [1, 2]\naccumulator w [3] = 0\nloss = sum(w)\n",
        Code::Layout => {
            "rules upstream\nparam x [2, 3] = 1\nr = scale(x, 2)\nloss = sum(cont(r.T))\n"
        }
        Code::TooManyNodes => {
            "fn ten(x) { return x + x + x + x + x + x + x + x + x + x + x }\nfn hundred(x) { return ten(ten(ten(ten(ten(ten(ten(ten(ten(ten(x)))))))))) }\nfn thousand(x) {\nreturn hundred(hundred(hundred(hundred(hundred(hundred(hundred(hundred(hundred(hundred(x))))))))))\n}\nfn many(x) {\nreturn thousand(thousand(thousand(thousand(thousand(thousand(thousand(x)))))))\n}\nparam w = 1\nloss = many(many(many(w)))\n"
        }
        Code::TooManyElements => "param x [4097, 4096] = 0\n",
        Code::TooManySteps => "param x = 1\nloss = sqr(x)\ntrain sgd lr=0.1 steps=100001\n",
        Code::Kink => "param x = [0, 1]\nloss = sum(relu(x))\n",
        Code::NotFinite => "param x = [0, 1]\nloss = sum(log(x))\n",
        Code::BroadcastBoth => "rules numpy\nparam p [3, 1] = 1\nparam t [3] = 1\nd = p - t\n",
        Code::UnusedParameter => "param x = 1\nparam u = 1\nloss = sqr(x)\n",
        Code::NoGradientPath => "param x = 1\nparam u = 1\nside = sqr(u)\nloss = sqr(x)\n",
        Code::UpstreamValue => {
            "rules upstream\nparam x [4] = 1\nparam b [1] = 1\nz = add1(x, b)\nloss = sum(z)\n"
        }
    }
}
